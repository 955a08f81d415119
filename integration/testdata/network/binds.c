/* Binds and listens at an address in memory whose port another thread flips. argv: seconds, a good port and a bad one. */
#include "out.h"

static volatile struct sockaddr_in at;
static in_port_t good, bad;
static volatile int stop;

static void *flip(void *unused) {
	while (!stop) {
		at.sin_port = bad;
		for (volatile int i = 0; i < 500; i++) { }
		at.sin_port = good;
		for (volatile int i = 0; i < 700; i++) { }
	}
	return unused;
}

int main(int argc, char **argv) {
	int served = 0, refused = 0, on = 1;
	pthread_t t;
	started();
	at.sin_family = AF_INET, at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	good = htons(atoi(argv[2])), bad = htons(atoi(argv[3]));
	at.sin_port = good;
	double end = now() + atof(argv[1]);
	pthread_create(&t, NULL, flip, NULL);
	while (now() < end) {
		int s = socket(AF_INET, SOCK_STREAM, 0);
		setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
		if (bind(s, (void *)&at, sizeof at) == 0 && listen(s, 5) == 0)
			served++;
		else
			refused++;
		usleep(500);
		close(s);
	}
	stop = 1;
	pthread_join(t, NULL);
	printf("served %d refused %d\n", served, refused);
	return 0;
}
