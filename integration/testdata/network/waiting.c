/* Connects to a server whose queue is full, while another thread sets the socket to wait; then to another place, and stays.
   argv: a unix socket, or "own" for a server of the program's own; a place that answers. */
#include "out.h"

static volatile int current = -1;
static struct sockaddr_storage to;
static socklen_t size;

static void *flip(void *unused) {
	for (int s; (s = current) != -2;)
		if (s >= 0) fcntl(s, F_SETFL, 0);
	return unused;
}

static void *go(void *s) {
	connect((long)s, (void *)&to, size);
	return NULL;
}

int main(int argc, char **argv) {
	started();
	int tcp = strcmp(argv[1], "own") == 0, many = 100;
	if (tcp) {
		struct sockaddr_in a = place("127.0.0.1", "0");
		int l = socket(AF_INET, SOCK_STREAM, 0);
		size = sizeof a;
		if (bind(l, (void *)&a, size) || listen(l, 0) || getsockname(l, (void *)&to, &size)) perror("own");
	} else {
		struct sockaddr_un *a = (void *)&to;
		a->sun_family = AF_UNIX;
		strncpy(a->sun_path, argv[1], sizeof a->sun_path - 1);
		size = sizeof *a;
	}
	for (int i = 0; i < 4; i++) { // its queue gets full
		int s = socket(to.ss_family, SOCK_STREAM | SOCK_NONBLOCK, 0);
		connect(s, (void *)&to, size);
	}
	pthread_t t;
	pthread_create(&t, NULL, flip, NULL);
	pthread_create(&t, NULL, flip, NULL);
	for (int i = 0; i < 15; i++) {
		int s = socket(to.ss_family, SOCK_STREAM, 0);
		if (tcp) setsockopt(s, IPPROTO_TCP, TCP_SYNCNT, &many, sizeof many);
		current = s;
		pthread_create(&t, NULL, go, (void *)(long)s);
		usleep(50000);
	}
	current = -2;
	struct sockaddr_in a = place(argv[2], argv[3]);
	tell("the others go on", connect(socket(AF_INET, SOCK_STREAM, 0), (void *)&a, sizeof a));
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}
