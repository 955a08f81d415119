/* Connects with the first bytes it sends. argv: a port of the host's loopback. */
#include <arpa/inet.h>

int main(int argc, char **argv) {
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct iovec bytes = {"hello", 5};
	struct mmsghdr m = {{.msg_name = &to, .msg_namelen = sizeof to, .msg_iov = &bytes, .msg_iovlen = 1}};
	started();
	tell("sendto", sendto(socket(AF_INET, SOCK_STREAM, 0), "hello", 5, MSG_FASTOPEN, (void *)&to, sizeof to));
	tell("sendmsg", sendmsg(socket(AF_INET, SOCK_STREAM, 0), &m.msg_hdr, MSG_FASTOPEN));
	tell("sendmmsg", sendmmsg(socket(AF_INET, SOCK_STREAM, 0), &m, 1, MSG_FASTOPEN));
	return 0;
}
