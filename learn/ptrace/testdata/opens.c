// Every kind of access below argv[1], where "old", "gone", "link -> old" and "sub/" stand.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#define MUST(x) do { if ((x) < 0) { perror(#x); return 1; } } while (0)
int main(int argc, char **argv) {
	int d, fd;
	MUST(chdir(argv[1]));
	MUST(d = open("sub", O_RDONLY | O_DIRECTORY));
	MUST(open("link", O_RDONLY));
	MUST(openat(d, "../old", O_WRONLY));
	MUST(openat(d, "fresh", O_WRONLY | O_CREAT, 0600));
	MUST(open("sub/fresh", O_WRONLY | O_CREAT, 0600));
	MUST(open("excl", O_RDWR | O_CREAT | O_EXCL, 0600));
	MUST(rename("excl", "sub/moved"));
	MUST(mkdir("made", 0700));
	MUST(mkdirat(d, "below/", 0700));
	MUST(rmdir("made"));
	MUST(unlink("gone"));
	MUST(fd = open("brief", O_RDWR | O_CREAT, 0600));
	MUST(unlink("brief"));
	MUST(symlink("old", "sub/soft"));
	MUST(link("old", "sub/hard"));
	MUST(truncate("link", 0));
	MUST(chmod("old", 0640));
	MUST(open("old", O_PATH));
	if (open(".", O_TMPFILE | O_RDWR, 0600) < 0) perror("tmpfile");
	if (open("absent", O_RDONLY) >= 0) return 2;
	if (open("sub", O_WRONLY) >= 0) return 3;
	if (mkdir("sub", 0700) == 0) return 4;
	if (open("old (deleted)", O_RDONLY | O_CREAT, 0600) < 0) return 5;
	return 0;
}
