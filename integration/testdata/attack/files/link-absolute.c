/* Makes a link with an absolute path in a folder it may write, and reads through it. argv: the file, the link. */
#include "attack.h"

int main(int argc, char **argv) {
	started();
	tell("symlink", symlink(argv[1], argv[2]));
	show("link", open(argv[2], O_RDONLY));
	return 0;
}
