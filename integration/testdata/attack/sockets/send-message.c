/* Sends a message with its address inside, by two calls. argv: paths of sockets. */
#include "attack.h"

int main(int argc, char **argv) {
	started();
	for (int i = 1; i < argc; i++) {
		struct sockaddr_un un = {.sun_family = AF_UNIX};
		struct iovec text = {"hello", 5};
		struct mmsghdr m = {.msg_hdr = {.msg_name = &un, .msg_namelen = sizeof un, .msg_iov = &text, .msg_iovlen = 1}};
		strncpy(un.sun_path, argv[i], sizeof un.sun_path - 1);
		int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
		tell("sendmsg", sendmsg(fd, &m.msg_hdr, 0));
		tell("sendmmsg", sendmmsg(fd, &m, 1, 0));
		tell("sendto", sendto(fd, "hello", 5, 0, (void *)&un, sizeof un));
	}
	return 0;
}
