/* Exchanges the policy with a file of its own, by the call that swaps two names. argv: the policy file. */
#include "attack.h"

int main(int argc, char **argv) {
	started();
	char own[PATH_MAX];
	snprintf(own, sizeof own, "%s.own", argv[1]);
	close(open(own, O_CREAT | O_WRONLY, 0644));
	tell("exchange", syscall(SYS_renameat2, AT_FDCWD, own, AT_FDCWD, argv[1], 2));
	tell("rename", syscall(SYS_renameat2, AT_FDCWD, own, AT_FDCWD, argv[1], 0));
	return 0;
}
