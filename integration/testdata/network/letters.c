/* Sends datagrams to an address in memory that another thread flips, by sendto, sendmsg and sendmmsg. argv: seconds, a good host and a bad one,
   a good port and a bad one; the path of a server that hands over a socket of the host to send with, instead of an own one. */
#include "out.h"

static volatile struct sockaddr_in to;
static struct sockaddr_in good, bad;
static volatile int stop;

static void *flip(void *unused) {
	while (!stop) {
		to.sin_addr = bad.sin_addr;
		for (volatile int i = 0; i < 400; i++) { }
		to.sin_port = bad.sin_port;
		for (volatile int i = 0; i < 300; i++) { }
		to.sin_addr = good.sin_addr;
		for (volatile int i = 0; i < 400; i++) { }
		to.sin_port = good.sin_port;
		for (volatile int i = 0; i < 900; i++) { }
	}
	return unused;
}

/* handed is the second of the sockets that the server at the path gives. */
static int handed(const char *path) {
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	char room[256], c;
	struct iovec bytes = {&c, 1};
	struct msghdr m = {.msg_iov = &bytes, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
	int s = socket(AF_UNIX, SOCK_STREAM, 0);
	strncpy(at.sun_path, path, sizeof at.sun_path - 1);
	if (connect(s, (void *)&at, sizeof at) || recvmsg(s, &m, 0) < 0 || !CMSG_FIRSTHDR(&m))
		exit(3);
	close(s);
	return ((int *)CMSG_DATA(CMSG_FIRSTHDR(&m)))[1];
}

int main(int argc, char **argv) {
	int sent = 0, refused = 0, other = 0, last = 0;
	pthread_t a;
	started();
	good = place(argv[2], argv[4]);
	bad = place(argv[3], argv[5]);
	to = good;
	struct iovec bytes = {"letter", 6};
	struct mmsghdr m = {{.msg_name = (void *)&to, .msg_namelen = sizeof to, .msg_iov = &bytes, .msg_iovlen = 1}};
	int foreign = argc > 6 ? handed(argv[6]) : -1;
	double end = now() + atof(argv[1]);
	pthread_create(&a, NULL, flip, NULL);
	for (int i = 0; now() < end; i++) {
		int s = foreign < 0 ? socket(AF_INET, SOCK_DGRAM, 0) : dup(foreign);
		for (int again = 0; again < 3; again++) { /* the same socket more than once: the first send may have made a way */
			long r = i % 3 == 0 ? sendto(s, "letter", 6, 0, (void *)&to, sizeof to) : i % 3 == 1 ? sendmsg(s, &m.msg_hdr, 0) : sendmmsg(s, &m, 1, 0);
			if (r > 0)
				sent++;
			else if (errno == EACCES)
				refused++;
			else {
				other++;
				last = errno;
			}
		}
		close(s);
		usleep(200);
	}
	stop = 1;
	pthread_join(a, NULL);
	printf("sent %d refused %d other %d %s\n", sent, refused, other, strerror(last));
	return 0;
}
