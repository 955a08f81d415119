/* Connects and sends on a descriptor that another thread swaps: between a fresh socket, one that came from outside (a connect that was allowed and
   failed), and a UDP socket. argv: seconds, a ruled host with a port nobody listens at, a loopback port, a bad host, its port, its UDP port. */
#include "out.h"

enum { PLACE = 100 };

static volatile int stop;
static int kinds[3];

static void *swap(void *unused) {
	for (unsigned i = 0; !stop; i++)
		dup2(kinds[i % 3], PLACE);
	return unused;
}

/* failed gives a socket whose connect was allowed and did not succeed. */
static int failed(struct sockaddr_in to) {
	int s = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), e;
	socklen_t n = sizeof e;
	if (connect(s, (void *)&to, sizeof to) < 0 && errno == EINPROGRESS) {
		struct pollfd p = {s, POLLOUT, 0};
		poll(&p, 1, 5000);
		getsockopt(s, SOL_SOCKET, SO_ERROR, &e, &n);
	}
	return s;
}

int main(int argc, char **argv) {
	int done = 0, sent = 0;
	started();
	struct sockaddr_in closed = place(argv[2], argv[3]), loop = place("127.0.0.1", argv[4]), bad = place(argv[5], argv[6]), mail = place(argv[5], argv[7]);
	/* In the box this port is the box's own; psb then connects the program's socket, whichever stands there. */
	int own = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(own, (void *)&loop, sizeof loop) == 0)
		listen(own, 100);
	double end = now() + atof(argv[1]);
	while (now() < end) {
		pthread_t t;
		kinds[0] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		kinds[1] = failed(closed);
		kinds[2] = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
		dup2(kinds[0], PLACE);
		stop = 0;
		pthread_create(&t, NULL, swap, NULL);
		for (int i = 0; i < 20; i++) {
			struct sockaddr_in to = i % 2 ? loop : bad;
			done += connect(PLACE, (void *)&to, sizeof to) == 0 || errno == EINPROGRESS;
			sent += sendto(PLACE, "swap\n", 5, MSG_NOSIGNAL, (void *)&mail, sizeof mail) > 0;
			sched_yield();
		}
		stop = 1;
		pthread_join(t, NULL);
		close(PLACE);
		for (int i = 0; i < 3; i++)
			close(kinds[i]);
		for (int c; (c = accept4(own, NULL, NULL, SOCK_NONBLOCK)) >= 0 && fcntl(own, F_SETFL, O_NONBLOCK) == 0;)
			close(c);
	}
	printf("connects %d sends %d\n", done, sent);
	return 0;
}
