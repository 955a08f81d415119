/* A memory bomb with a fuse. argv: how many MiB at most, a word to be found by. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
	puts("started");
	fflush(stdout);
	for (int i = 0; i < atoi(argv[1]); i++) {
		char *p = malloc(1 << 20);
		if (!p) {
			printf("no memory after %d MiB\n", i);
			break;
		}
		memset(p, 'x', 1 << 20);
	}
	puts("ready");
	fflush(stdout);
	while (getchar() != EOF)
		;
	return 0;
}
