/* Writes into a hook that stands there. argv: the hook. */
#include "attack.h"

int main(int argc, char **argv) {
	started();
	tell("append", write(open(argv[1], O_WRONLY | O_APPEND), "# changed\n", 10));
	tell("chmod", chmod(argv[1], 0755));
	tell("unlink", unlink(argv[1]));
	return 0;
}
