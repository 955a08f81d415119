/* Rewrites the policy that binds it. argv: the policy file. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
	const char text[] = "version = 1\n[files]\n\"/\" = \"write\"\n";
	char other[4096];
	puts("started");
	int fd = open(argv[1], O_WRONLY | O_TRUNC);
	if (fd < 0 || write(fd, text, sizeof text - 1) < 0)
		perror("open");
	snprintf(other, sizeof other, "%s.new", argv[1]);
	fd = open(other, O_CREAT | O_WRONLY, 0644);
	if (fd < 0 || write(fd, text, sizeof text - 1) < 0 || rename(other, argv[1]) < 0)
		perror("rename");
	if (unlink(argv[1]) < 0)
		perror("unlink");
	return 0;
}
