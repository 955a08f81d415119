/* Gives addresses to connect and sendto in shapes the C library never makes. What reaches a place says how. argv: a bad host, its port, its UDP port. */
#include "out.h"

/* tries connects a fresh socket, and says the way's name where that has led. */
static void tries(const char *way, int family, int kind, void *to, socklen_t length) {
	char line[60];
	int s = socket(family, kind, 0);
	long r = tell(way, connect(s, to, length));
	snprintf(line, sizeof line, "%s\n", way);
	if (r == 0)
		send(s, line, strlen(line), MSG_NOSIGNAL);
	close(s);
}

static struct sockaddr_in6 mapped(struct sockaddr_in a) {
	struct sockaddr_in6 m = {.sin6_family = AF_INET6, .sin6_port = a.sin_port};
	m.sin6_addr.s6_addr[10] = m.sin6_addr.s6_addr[11] = 0xff;
	memcpy(m.sin6_addr.s6_addr + 12, &a.sin_addr, 4);
	return m;
}

int main(int argc, char **argv) {
	started();
	struct sockaddr_in bad = place(argv[1], argv[2]), mail = place(argv[1], argv[3]);
	struct sockaddr_in6 bad6 = mapped(bad), mail6 = mapped(mail);
	char room[128] = {0};

	memcpy(room, &bad, sizeof bad);
	tries("long", AF_INET, SOCK_STREAM, room, sizeof room);
	memcpy(room, &bad6, sizeof bad6);
	tries("mapped", AF_INET6, SOCK_STREAM, &bad6, sizeof bad6);
	tries("long mapped", AF_INET6, SOCK_STREAM, room, sizeof room);
	tries("short mapped", AF_INET6, SOCK_STREAM, &bad6, 24); /* without the scope */
	bad6.sin6_flowinfo = htonl(0x12345), bad6.sin6_scope_id = 7;
	tries("mapped with a flow", AF_INET6, SOCK_STREAM, &bad6, sizeof bad6);
	memset(bad.sin_zero, 0xff, sizeof bad.sin_zero);
	tries("noise behind", AF_INET, SOCK_STREAM, &bad, sizeof bad);

	tries("datagram", AF_INET, SOCK_DGRAM, &mail, sizeof mail);
	tries("datagram mapped", AF_INET6, SOCK_DGRAM, &mail6, sizeof mail6);
	tries("datagram of the other family", AF_INET6, SOCK_DGRAM, &mail, sizeof mail);
	int s = socket(AF_INET6, SOCK_DGRAM, 0);
	tell("letter mapped", sendto(s, "letter mapped\n", 14, 0, (void *)&mail6, sizeof mail6));
	tell("letter of the other family", sendto(s, "letter of the other family\n", 27, 0, (void *)&mail, sizeof mail));
	mail.sin_family = AF_UNSPEC;
	tell("letter of no family", sendto(socket(AF_INET, SOCK_DGRAM, 0), "letter of no family\n", 20, 0, (void *)&mail, sizeof mail));
	s = socket(AF_INET, SOCK_DGRAM, 0);
	mail.sin_family = AF_INET;
	struct iovec bytes = {"letter with a way\n", 18};
	char control[CMSG_SPACE(sizeof(struct in_pktinfo))] = {0};
	struct msghdr m = {.msg_name = &mail, .msg_namelen = sizeof mail, .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	c->cmsg_level = IPPROTO_IP, c->cmsg_type = IP_PKTINFO, c->cmsg_len = CMSG_LEN(sizeof(struct in_pktinfo));
	((struct in_pktinfo *)CMSG_DATA(c))->ipi_ifindex = 1;
	tell("letter with a way", sendmsg(s, &m, 0));
	return 0;
}
