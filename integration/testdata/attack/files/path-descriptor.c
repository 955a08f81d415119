/* Takes a descriptor without rights on the file and opens it anew through /proc. argv: the file. */
#include "attack.h"

int main(int argc, char **argv) {
	started();
	char way[64];
	snprintf(way, sizeof way, "/proc/self/fd/%d", open(argv[1], O_PATH));
	show(way, open(way, O_RDONLY));
	return 0;
}
