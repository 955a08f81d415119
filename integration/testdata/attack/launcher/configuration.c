/* Writes what psb itself would obey: the user's own configuration. argv: its folder, a word. */
#include "attack.h"

int main(int argc, char **argv) {
	started();
	char way[PATH_MAX];
	snprintf(way, sizeof way, "%s/kept", argv[1]);
	tell(way, write(open(way, O_WRONLY | O_APPEND), argv[2], strlen(argv[2])));
	snprintf(way, sizeof way, "%s.away", argv[1]);
	tell(way, rename(argv[1], way));
	return 0;
}
