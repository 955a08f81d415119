/* Gives a file it may only read a name in a folder it may write, and writes there. argv: the file, the name. */
#include "attack.h"

int main(int argc, char **argv) {
	started();
	tell("link", link(argv[1], argv[2]));
	tell("linkat", linkat(open(argv[1], O_RDONLY), "", AT_FDCWD, argv[2], AT_EMPTY_PATH));
	tell("write", write(open(argv[2], O_WRONLY), "written from inside", 19));
	return 0;
}
