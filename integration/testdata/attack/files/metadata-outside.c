/* Changes mode, times and attributes of a file outside. argv: the file. */
#include "attack.h"

int main(int argc, char **argv) {
	started();
	struct timespec past[2] = {{1, 0}, {1, 0}};
	tell("chmod", chmod(argv[1], 0777));
	tell("utimensat", utimensat(AT_FDCWD, argv[1], past, 0));
	tell("setxattr", setxattr(argv[1], "user.a", "1", 1, 0));
	return 0;
}
