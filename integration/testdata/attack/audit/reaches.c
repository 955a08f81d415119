/* Connects to servers of the host and sends a word. argv: a TCP port on the loopback, a UDP port there, the path of a unix socket. */
#include "attack.h"
#include <arpa/inet.h>

static void audit_reach(int family, int kind, void *address, socklen_t size) {
	int fd = socket(family, kind, 0);
	if (tell("connect", fd < 0 ? -1 : connect(fd, address, size)) == 0) tell("send", write(fd, "hello", 5));
	if (fd >= 0) close(fd);
}

int main(int argc, char **argv) {
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	(void)argc;
	started();
	in.sin_port = htons(atoi(argv[1]));
	audit_reach(AF_INET, SOCK_STREAM, &in, sizeof in);
	in.sin_port = htons(atoi(argv[2]));
	audit_reach(AF_INET, SOCK_DGRAM, &in, sizeof in);
	strncpy(un.sun_path, argv[3], sizeof un.sun_path - 1);
	audit_reach(AF_UNIX, SOCK_STREAM, &un, sizeof un);
	return 0;
}
