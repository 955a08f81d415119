/* Opens a file it may only read in every way that writes. argv: the file. */
#include "attack.h"

int main(int argc, char **argv) {
	started();
	const int flags[] = {O_RDWR, O_WRONLY, O_WRONLY | O_APPEND, O_RDONLY | O_TRUNC};
	for (int i = 0; i < 4; i++)
		tell("open", write(open(argv[1], flags[i]), "written from inside", 19));
	tell("truncate", truncate(argv[1], 0));
	return 0;
}
