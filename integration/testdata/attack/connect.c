/* Connects to sockets of the host. argv: a TCP port on the loopback, an abstract name, the path of a socket. */
#include <arpa/inet.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

static void try(const char *what, void *address, socklen_t size) {
	int fd = socket(((struct sockaddr *)address)->sa_family, SOCK_STREAM, 0);
	if (fd < 0 || connect(fd, address, size) < 0)
		perror(what);
	else
		printf("connected %s\n", what);
}

int main(int argc, char **argv) {
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	puts("started");
	try("tcp", &in, sizeof in);
	strncpy(un.sun_path + 1, argv[2], sizeof un.sun_path - 2);
	try("abstract", &un, offsetof(struct sockaddr_un, sun_path) + 1 + strlen(argv[2]));
	memset(un.sun_path, 0, sizeof un.sun_path);
	strncpy(un.sun_path, argv[3], sizeof un.sun_path - 1);
	try("path", &un, sizeof un);
	return 0;
}
