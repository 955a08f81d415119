/* Makes names of every kind outside. argv: the folder. */
#include "attack.h"

int main(int argc, char **argv) {
	started();
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	tell("chdir", chdir(argv[1]));
	char way[PATH_MAX];
	for (int i = 0; i < 4; i++) {
		snprintf(way, sizeof way, "%s/made-%d", argv[1], i);
		tell(way, i == 0 ? mkdir(way, 0755) : i == 1 ? symlink("x", way) : i == 2 ? mkfifo(way, 0644) : mknod(way, S_IFREG | 0644, 0));
	}
	snprintf(un.sun_path, sizeof un.sun_path, "%s/made-5", argv[1]);
	tell("bind", bind(socket(AF_UNIX, SOCK_STREAM, 0), (void *)&un, sizeof un));
	return 0;
}
