/* Connects to the host's loopback as an IPv4 address inside an IPv6 one. argv: a port. */
#include <arpa/inet.h>

int main(int argc, char **argv) {
	struct sockaddr_in6 to = {.sin6_family = AF_INET6, .sin6_port = htons(atoi(argv[1]))};
	started();
	inet_pton(AF_INET6, "::ffff:127.0.0.1", &to.sin6_addr);
	tell("connect", connect(socket(AF_INET6, SOCK_STREAM, 0), (void *)&to, sizeof to));
	return 0;
}
