/* Climbs with folder descriptors instead of paths, then goes down again. argv: the folder, the file in it. */
#include "attack.h"

int main(int argc, char **argv) {
	started();
	int up = openat(open(".", O_PATH | O_DIRECTORY), "..", O_PATH | O_DIRECTORY);
	int down = openat(up, strrchr(argv[1], '/') + 1, O_PATH | O_DIRECTORY);
	show("file", openat(down, argv[2], O_RDONLY));
	return 0;
}
