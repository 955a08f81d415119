/* Gives a file outside a name in a folder it may write, and reads that. argv: the file, the name. */
#include "attack.h"

int main(int argc, char **argv) {
	started();
	tell("link", link(argv[1], argv[2]));
	show("name", open(argv[2], O_RDONLY));
	return 0;
}
