/* Sends datagrams to the host's loopback, two of them in one call. argv: a port. */
#include <arpa/inet.h>

int main(int argc, char **argv) {
	struct sockaddr_in to[2] = {{.sin_family = AF_INET, .sin_port = htons(atoi(argv[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)},
		{.sin_family = AF_INET, .sin_port = htons(9), .sin_addr.s_addr = htonl(0x7f010203)}};
	struct iovec bytes = {"hello", 5};
	struct mmsghdr m[2] = {{{.msg_name = &to[0], .msg_namelen = sizeof *to, .msg_iov = &bytes, .msg_iovlen = 1}},
		{{.msg_name = &to[1], .msg_namelen = sizeof *to, .msg_iov = &bytes, .msg_iovlen = 1}}};
	started();
	tell("sendmmsg", sendmmsg(socket(AF_INET, SOCK_DGRAM, 0), m, 2, 0));
	return 0;
}
