/* Writes what a desktop or a shell starts, below ~/.config. argv: the files. */
#include "attack.h"

int main(int argc, char **argv) {
	started();
	for (int i = 1; i < argc; i++) {
		tell(argv[i], write(open(argv[i], O_WRONLY | O_APPEND), "# changed\n", 10));
		tell(argv[i], unlink(argv[i]));
	}
	return 0;
}
