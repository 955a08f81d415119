/* A fork bomb with a fuse: at most so many children, which end with it. argv: how many, a word to be found by. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
	int p[2], made = 0;
	char c;
	puts("started");
	fflush(stdout);
	if (pipe(p) < 0)
		return 1;
	for (; made < atoi(argv[1]); made++) {
		pid_t pid = fork();
		if (pid < 0) {
			perror("fork");
			break;
		}
		if (pid == 0) {
			close(p[1]);
			_exit(read(p[0], &c, 1) != 0);
		}
	}
	printf("made %d\nready\n", made);
	fflush(stdout);
	while (getchar() != EOF)
		;
	return 0;
}
