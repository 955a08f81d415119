/* Connects to an address in memory whose host and port two threads flip. argv: seconds, a good host and a bad one, a good port and a bad one. */
#include "out.h"

static volatile struct sockaddr_in to;
static struct sockaddr_in good, bad;
static volatile int stop;

static void *flip_host(void *unused) {
	while (!stop) {
		to.sin_addr = bad.sin_addr;
		for (volatile int i = 0; i < 500; i++) { }
		to.sin_addr = good.sin_addr;
		for (volatile int i = 0; i < 700; i++) { }
	}
	return unused;
}

static void *flip_port(void *unused) {
	while (!stop) {
		to.sin_port = bad.sin_port;
		for (volatile int i = 0; i < 300; i++) { }
		to.sin_port = good.sin_port;
		for (volatile int i = 0; i < 900; i++) { }
	}
	return unused;
}

int main(int argc, char **argv) {
	int connected = 0, refused = 0, other = 0, last = 0;
	pthread_t a, b;
	started();
	good = place(argv[2], argv[4]);
	bad = place(argv[3], argv[5]);
	to = good;
	double end = now() + atof(argv[1]);
	pthread_create(&a, NULL, flip_host, NULL);
	pthread_create(&b, NULL, flip_port, NULL);
	while (now() < end) {
		int s = socket(AF_INET, SOCK_STREAM, 0);
		struct linger reset = {1, 0};
		if (connect(s, (void *)&to, sizeof to) == 0) {
			connected++;
			setsockopt(s, SOL_SOCKET, SO_LINGER, &reset, sizeof reset); /* ports are free again at once */
		} else if (errno == EACCES) {
			refused++;
		} else {
			other++;
			last = errno;
		}
		close(s);
		usleep(200); /* the flipping threads get their turn on one processor, too */
	}
	stop = 1;
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("connected %d refused %d other %d %s\n", connected, refused, other, strerror(last));
	return 0;
}
