/* Moves a file of its own into a folder outside. argv: the file, the place. */
#include "attack.h"

int main(int argc, char **argv) {
	started();
	close(open(argv[1], O_CREAT | O_WRONLY, 0644));
	tell("link", link(argv[1], argv[2]));
	tell("rename", rename(argv[1], argv[2]));
	return 0;
}
