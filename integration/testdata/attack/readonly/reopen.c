/* Opens a file for reading, and the open file for writing. argv: the file. */
#include "attack.h"

int main(int argc, char **argv) {
	started();
	char way[64];
	const int flags[] = {O_RDONLY, O_PATH};
	for (int i = 0; i < 2; i++) {
		snprintf(way, sizeof way, "/proc/self/fd/%d", open(argv[1], flags[i]));
		tell(way, write(open(way, O_WRONLY | O_TRUNC), "written from inside", 19));
	}
	return 0;
}
