/* Waits for visitors at a port of the host. argv: the port. */
#include <arpa/inet.h>

int main(int argc, char **argv) {
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[1]))};
	int s = socket(AF_INET, SOCK_STREAM, 0), on = 1;
	started();
	setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	tell("bind", bind(s, (void *)&at, sizeof at));
	tell("listen", listen(s, 5));
	ready();
	return 0;
}
