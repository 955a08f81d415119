/* Connects to an address in memory that another thread flips all the time. argv: a good address and a bad one, a port, how often. */
#include <arpa/inet.h>

static struct sockaddr_in flip_good, flip_bad;
static volatile struct sockaddr_in flip_address;
static volatile int flip_runs, flip_stop;

static void *flip_all_the_time(void *unused) {
	for (flip_runs = 1; !flip_stop;) {
		flip_address.sin_addr = flip_bad.sin_addr;
		flip_address.sin_addr = flip_good.sin_addr;
	}
	return NULL;
}

int main(int argc, char **argv) {
	pthread_t t;
	started();
	flip_good = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(atoi(argv[3])), .sin_addr.s_addr = inet_addr(argv[1])};
	flip_bad = flip_good;
	flip_bad.sin_addr.s_addr = inet_addr(argv[2]);
	flip_address = flip_good;
	pthread_create(&t, NULL, flip_all_the_time, NULL);
	while (!flip_runs) sched_yield();
	for (int i = 0; i < atoi(argv[4]); i++) {
		int s = socket(AF_INET, SOCK_STREAM, 0);
		connect(s, (void *)&flip_address, sizeof flip_address);
		close(s);
		sched_yield(); // on one processor the other thread has to get its turn
	}
	flip_stop = 1;
	pthread_join(t, NULL);
	return 0;
}
