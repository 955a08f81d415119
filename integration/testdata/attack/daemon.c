/* Leaves a process behind that has left its session, its parent and its descriptors. argv: a word to be found by. */
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
	int p[2];
	char c;
	puts("started");
	fflush(stdout);
	if (pipe(p) < 0)
		return 1;
	if (fork() == 0) {
		setsid();
		if (fork() == 0) {
			for (int fd = 0; fd < 3; fd++)
				close(fd);
			if (write(p[1], "!", 1) == 1)
				for (int fd = 3; fd < 64; fd++)
					close(fd);
			sleep(120);
		}
		_exit(0);
	}
	return read(p[0], &c, 1) != 1; /* it lives */
}
