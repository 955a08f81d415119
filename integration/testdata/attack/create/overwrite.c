/* Writes into files that stood in a folder where it may only make new ones. argv: the file. */
#include "attack.h"

int main(int argc, char **argv) {
	started();
	tell("write", write(open(argv[1], O_WRONLY), "written from inside", 19));
	tell("truncate", truncate(argv[1], 0));
	close(open("out/own", O_CREAT | O_WRONLY, 0644));
	tell("rename", rename("out/own", argv[1]));
	tell("unlink", unlink(argv[1]));
	return 0;
}
