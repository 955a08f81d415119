/* Sends a datagram to the host's loopback by sendto. argv: a port. */
#include <arpa/inet.h>

int main(int argc, char **argv) {
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	started();
	tell("sendto", sendto(socket(AF_INET, SOCK_DGRAM, 0), "hello", 5, 0, (void *)&to, sizeof to));
	return 0;
}
