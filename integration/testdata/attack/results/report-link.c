/* Plants a link where the report will be written. argv: the report, the file outside. */
#include "attack.h"

int main(int argc, char **argv) {
	started();
	unlink(argv[1]);
	tell("symlink", symlink(argv[2], argv[1]));
	return 0;
}
