/* Keeps the socket of an allowed connect that failed, lets five thousand others fail, and then uses it for something else. argv: a ruled host
   with a port nobody listens at, a bad host, its port. */
#include "out.h"

static struct sockaddr_in closed;

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

static void again(const char *way, int s, struct sockaddr_in to) {
	char line[60];
	int r = connect(s, (void *)&to, sizeof to);
	if (r < 0 && errno == ECONNABORTED)
		r = connect(s, (void *)&to, sizeof to);
	snprintf(line, sizeof line, "%s\n", way);
	if (tell(way, r) == 0)
		send(s, line, strlen(line), MSG_NOSIGNAL);
	close(s);
}

int main(int argc, char **argv) {
	started();
	closed = place(argv[1], argv[2]);
	struct sockaddr_in bad = place(argv[3], argv[4]), loop = place("127.0.0.1", argv[4]);
	int kept[3] = {failed(), failed(), failed()};
	for (int i = 0; i < 5000; i++)
		close(failed());
	/* In the box this port is the box's own. */
	int own = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(own, (void *)&loop, sizeof loop) == 0)
		listen(own, 10);
	again("forgotten, bad", kept[0], bad);
	again("forgotten, loopback", kept[1], loop);
	tell("forgotten, listening", listen(kept[2], 10));
	ready();
	return 0;
}
