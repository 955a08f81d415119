// Internet and unix sockets: a fixed port, a chosen one, a named datagram socket, a path below argv[1], an abstract name.
#include <arpa/inet.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#define MUST(x) do { if ((x) < 0) { perror(#x); return 1; } } while (0)
static struct sockaddr_in at(int port) {
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return a;
}
int main(int argc, char **argv) {
	int port = atoi(argv[2]), s, c;
	struct sockaddr_in a = at(port);
	MUST(s = socket(AF_INET, SOCK_STREAM, 0));
	int one = 1;
	MUST(setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one));
	MUST(bind(s, (void *)&a, sizeof a));
	MUST(listen(s, 1));
	MUST(c = socket(AF_INET, SOCK_STREAM, 0));
	MUST(connect(c, (void *)&a, sizeof a));
	a = at(0);
	MUST(s = socket(AF_INET, SOCK_STREAM, 0));
	MUST(bind(s, (void *)&a, sizeof a));
	MUST(listen(s, 1));
	a = at(port);
	MUST(s = socket(AF_INET, SOCK_DGRAM, 0));
	MUST(bind(s, (void *)&a, sizeof a));
	MUST(c = socket(AF_INET, SOCK_DGRAM, 0));
	MUST(sendto(c, "x", 1, 0, (void *)&a, sizeof a));
	struct sockaddr_un u = {.sun_family = AF_UNIX};
	MUST(chdir(argv[1]));
	strcpy(u.sun_path, "sock");
	MUST(s = socket(AF_UNIX, SOCK_STREAM, 0));
	MUST(bind(s, (void *)&u, sizeof u));
	MUST(listen(s, 1));
	MUST(c = socket(AF_UNIX, SOCK_STREAM, 0));
	MUST(connect(c, (void *)&u, sizeof u));
	memset(u.sun_path, 0, sizeof u.sun_path);
	sprintf(u.sun_path + 1, "abstract%d", port);
	MUST(s = socket(AF_UNIX, SOCK_STREAM, 0));
	MUST(bind(s, (void *)&u, offsetof(struct sockaddr_un, sun_path) + 1 + strlen(u.sun_path + 1)));
	MUST(listen(s, 1));
	return 0;
}
