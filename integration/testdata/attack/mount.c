/* Mounts a file system, in a user namespace of its own and directly. argv: "apart" (only in namespaces of its own) or "all", a name
   for the mount, a folder. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>

int main(int argc, char **argv) {
	puts("started");
	int apart = unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 || unshare(CLONE_NEWNS) == 0;
	if (!apart)
		perror("unshare");
	if (apart || strcmp(argv[1], "all") == 0) {
		mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL); /* nothing of this reaches the host */
		if (mount(argv[2], argv[3], "tmpfs", 0, NULL) < 0)
			perror("mount");
	}
	puts("ready");
	fflush(stdout);
	while (getchar() != EOF)
		;
	return 0;
}
