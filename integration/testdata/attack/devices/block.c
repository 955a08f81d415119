/* Makes the node of the disk its folder lies on. argv: the node. */
#include "attack.h"

int main(int argc, char **argv) {
	started();
	struct stat s;
	stat(".", &s);
	tell("mknod", mknod(argv[1], S_IFBLK | 0666, s.st_dev));
	return 0;
}
