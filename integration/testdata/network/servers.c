/* Makes servers of sockets that allowed connects left behind, and says at which port each listens. argv: a ruled host with a port nobody
   listens at and one where somebody does. */
#include "out.h"

static struct sockaddr_in closed, open_, nowhere = {.sin_family = AF_UNSPEC}, any = {.sin_family = AF_INET};

static int failed(void) {
	int s = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), e;
	socklen_t n = sizeof e;
	if (connect(s, (void *)&closed, sizeof closed) < 0 && errno == EINPROGRESS) {
		struct pollfd p = {s, POLLOUT, 0};
		poll(&p, 1, 5000);
		getsockopt(s, SOL_SOCKET, SO_ERROR, &e, &n);
	}
	return s;
}

static int connected(void) {
	int s = socket(AF_INET, SOCK_STREAM, 0);
	tell("allowed", connect(s, (void *)&open_, sizeof open_));
	return s;
}

static void serves(const char *way, int s) {
	struct sockaddr_in at = {0};
	socklen_t n = sizeof at;
	if (tell(way, listen(s, 10)) == 0 && getsockname(s, (void *)&at, &n) == 0)
		printf("port %d\n", ntohs(at.sin_port));
}

int main(int argc, char **argv) {
	started();
	closed = place(argv[1], argv[2]), open_ = place(argv[1], argv[3]);
	serves("failed", failed());
	int s = failed();
	tell("bind", bind(s, (void *)&any, sizeof any));
	serves("failed, bound", s);
	serves("connected", connected());
	s = connected();
	tell("unspec", connect(s, (void *)&nowhere, sizeof nowhere));
	serves("disconnected", s);
	s = connected();
	connect(s, (void *)&nowhere, sizeof nowhere);
	tell("bind", bind(s, (void *)&any, sizeof any));
	serves("disconnected, bound", s);
	s = connected();
	tell("bind of a connected one", bind(s, (void *)&any, sizeof any));
	shutdown(s, SHUT_RDWR);
	serves("shut down", s);
	ready();
	return 0;
}
