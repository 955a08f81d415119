/* Opens with openat2, which a list of open calls may forget. argv: the file. */
#include "attack.h"

int main(int argc, char **argv) {
	started();
	uint64_t how[3] = {O_RDONLY, 0, 0};
	show("openat2", syscall(SYS_openat2, AT_FDCWD, argv[1], how, sizeof how));
	return 0;
}
