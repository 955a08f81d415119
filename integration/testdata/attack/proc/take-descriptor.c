/* Takes a descriptor out of another process. argv: a process id, its descriptor. */
#include "attack.h"

int main(int argc, char **argv) {
	started();
	int at = tell("pidfd_open", syscall(SYS_pidfd_open, atoi(argv[1]), 0));
	show("pidfd_getfd", syscall(SYS_pidfd_getfd, at, atoi(argv[2]), 0));
	return 0;
}
