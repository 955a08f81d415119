/* Lets a child look. argv: a program that prints its environment. */
#include "attack.h"

int main(int argc, char **argv) {
	started();
	int pid = fork();
	if (pid == 0) {
		execl(argv[1], argv[1], NULL);
		_exit(1);
	}
	waitpid(pid, NULL, 0);
	return 0;
}
