/* Reads the text of a link outside. argv: the link. */
#include "attack.h"

int main(int argc, char **argv) {
	started();
	char text[4096];
	ssize_t n = readlink(argv[1], text, sizeof text);
	printf("%.*s\n", n < 0 ? 0 : (int)n, text);
	return 0;
}
