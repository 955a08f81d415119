/* Adds a .pth file, whose lines every Python of the environment runs. argv: site-packages. */
#include "attack.h"

int main(int argc, char **argv) {
	started();
	char way[PATH_MAX];
	snprintf(way, sizeof way, "%s/own.pth", argv[1]);
	tell(way, open(way, O_CREAT | O_WRONLY, 0644));
	snprintf(way, sizeof way, "%s/kept.pth", argv[1]);
	tell(way, write(open(way, O_WRONLY | O_APPEND), "import os\n", 10));
	return 0;
}
