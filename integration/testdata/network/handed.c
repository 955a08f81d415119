/* Uses the socket that an allowed connect left behind for something else: first a connect that failed, then one that succeeded. What reaches
   a place says how first. argv: a ruled host with a port nobody listens at and one where somebody does, a bad host, its port. */
#include "out.h"

static struct sockaddr_in closed, open_, bad, nowhere = {.sin_family = AF_UNSPEC};

static int fresh(void) { return socket(AF_INET, SOCK_STREAM, 0); }

static int failed(void) {
	int s = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), e;
	socklen_t n = sizeof e;
	if (connect(s, (void *)&closed, sizeof closed) < 0 && errno == EINPROGRESS) {
		struct pollfd p = {s, POLLOUT, 0};
		poll(&p, 1, 5000);
		getsockopt(s, SOL_SOCKET, SO_ERROR, &e, &n);
	}
	fcntl(s, F_SETFL, 0);
	return s;
}

static int connected(void) {
	int s = fresh();
	tell("allowed", connect(s, (void *)&open_, sizeof open_));
	return s;
}

/* came says the way's name where a connect has led. */
static void came(const char *way, int s, int r) {
	char line[60];
	tell(way, r);
	snprintf(line, sizeof line, "%s\n", way);
	if (r == 0)
		send(s, line, strlen(line), MSG_NOSIGNAL);
	close(s);
}

/* The call after a connect that failed tells of that failure once more; it is the second that goes out. */
static void again(const char *way, int s) {
	int r = connect(s, (void *)&bad, sizeof bad);
	came(way, s, r < 0 && errno == ECONNABORTED ? connect(s, (void *)&bad, sizeof bad) : r);
}

static void disconnected(const char *way, int s) {
	tell("unspec", connect(s, (void *)&nowhere, sizeof nowhere));
	again(way, s);
}

static void lazily(const char *way, int s) {
	int on = 1;
	setsockopt(s, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &on, sizeof on);
	again(way, s);
}

/* highly sends with a flag that stands beside bits which the kernel cuts off. */
static void highly(const char *way, int s) {
	char line[60];
	snprintf(line, sizeof line, "%s\n", way);
	tell(way, syscall(SYS_sendto, s, line, strlen(line), MSG_FASTOPEN | MSG_NOSIGNAL | 1L << 35, &bad, sizeof bad));
	close(s);
}

static void sending(const char *way, int how, int s) {
	char line[60];
	snprintf(line, sizeof line, "%s\n", way);
	struct iovec bytes = {line, strlen(line)};
	struct mmsghdr m = {{.msg_name = &bad, .msg_namelen = sizeof bad, .msg_iov = &bytes, .msg_iovlen = 1}};
	int flags = MSG_FASTOPEN | MSG_NOSIGNAL;
	long r;
	for (int i = 0; i < 2; i++) {
		r = how == 0 ? sendto(s, line, strlen(line), flags, (void *)&bad, sizeof bad) : how == 1 ? sendmsg(s, &m.msg_hdr, flags) : sendmmsg(s, &m, 1, flags);
		if (r > 0 || errno != ECONNABORTED)
			break;
	}
	tell(way, r);
	close(s);
}

int main(int argc, char **argv) {
	started();
	closed = place(argv[1], argv[2]), open_ = place(argv[1], argv[3]), bad = place(argv[4], argv[5]);
	again("failed again", failed());
	disconnected("failed unspec", failed());
	lazily("failed lazily", failed());
	disconnected("connected unspec", connected());
	lazily("fresh lazily", fresh());
	highly("fresh highly", fresh());
	for (int how = 0; how < 3; how++) {
		static const char *calls[] = {"sendto", "sendmsg", "sendmmsg"};
		char way[60];
		snprintf(way, sizeof way, "fresh %s", calls[how]);
		sending(way, how, fresh());
		snprintf(way, sizeof way, "failed %s", calls[how]);
		sending(way, how, failed());
		snprintf(way, sizeof way, "connected %s", calls[how]);
		int s = connected();
		connect(s, (void *)&nowhere, sizeof nowhere);
		sending(way, how, s);
	}
	int s = failed();
	again("failed, duplicated", dup(s));
	return 0;
}
