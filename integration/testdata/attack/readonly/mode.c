/* Changes the mode of a file it may only read. argv: the file. */
#include "attack.h"

int main(int argc, char **argv) {
	started();
	tell("chmod", chmod(argv[1], 0777));
	tell("fchmod", fchmod(open(argv[1], O_RDONLY), 0777));
	tell("fchmodat2", syscall(452, AT_FDCWD, argv[1], 0777, 0));
	return 0;
}
