/* Makes a program of its own set-user-ID by every call that sets a mode. argv: the program. */
#include "attack.h"

int main(int argc, char **argv) {
	started();
	tell("chmod", chmod(argv[1], 04755));
	tell("fchmod", fchmod(open(argv[1], O_RDONLY), 04755));
	tell("fchmodat", fchmodat(AT_FDCWD, argv[1], 04755, 0));
	tell("fchmodat2", syscall(452, AT_FDCWD, argv[1], 04755, 0));
	tell("set-group", chmod(argv[1], 02755));
	return 0;
}
