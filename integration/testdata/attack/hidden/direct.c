/* Opens what is hidden by its name. argv: the file. */
#include "attack.h"

int main(int argc, char **argv) {
	started();
	show("open", open(argv[1], O_RDONLY));
	show("open", open(argv[1], O_RDWR));
	return 0;
}
