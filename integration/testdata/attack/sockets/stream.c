/* Connects to sockets of the host that stand where it may read or write, and through a link. argv: their paths. */
#include "attack.h"

int main(int argc, char **argv) {
	started();
	for (int i = 1; i < argc; i++) {
		struct sockaddr_un un = {.sun_family = AF_UNIX};
		strncpy(un.sun_path, argv[i], sizeof un.sun_path - 1);
		tell(argv[i], connect(socket(AF_UNIX, SOCK_STREAM, 0), (void *)&un, sizeof un));
	}
	return 0;
}
