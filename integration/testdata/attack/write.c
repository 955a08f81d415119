/* Writes outside: changes a file that is there, makes one beside it, makes one in /var/tmp. argv: the three. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
	const int flags[] = {O_WRONLY | O_TRUNC, O_WRONLY | O_CREAT, O_WRONLY | O_APPEND};
	puts("started");
	for (int i = 1; i < argc; i++)
		for (int f = 0; f < 3; f++) {
			int fd = open(argv[i], flags[f], 0644);
			if (fd < 0 || write(fd, "written from inside\n", 20) < 0)
				perror(argv[i]);
		}
	return 0;
}
