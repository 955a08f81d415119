/* Writes settings of the kernel. argv: pairs of a file and a text. */
#include "attack.h"

int main(int argc, char **argv) {
	started();
	for (int i = 1; i + 1 < argc; i += 2)
		tell(argv[i], write(open(argv[i], O_WRONLY), argv[i + 1], strlen(argv[i + 1])));
	return 0;
}
