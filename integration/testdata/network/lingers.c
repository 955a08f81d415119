/* Drops the last copy of a socket that lingers with unsent bytes, while another thread makes calls with it; then it goes to another place, and
   stays. argv: the host and port of a server that reads nothing, and of one that answers. */
#include "out.h"
#include <signal.h>
#include <sys/wait.h>

static int s;
static char text[1 << 20];

static void *calls(void *unused) {
	for (;;)
		listen(s, 5);
	return unused;
}

static void drop(struct sockaddr_in *to, int turn) {
	struct linger long_ = {1, 30000};
	s = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(s, (void *)to, sizeof *to) || setsockopt(s, SOL_SOCKET, SO_LINGER, &long_, sizeof long_)) {
		perror("deaf");
		_exit(1);
	}
	fcntl(s, F_SETFL, O_NONBLOCK);
	for (int i = 0; i < 2; i++) {
		while (write(s, text, sizeof text) > 0)
			;
		usleep(2000);
	}
	int other = open("/dev/null", O_RDWR);
	pthread_t t;
	pthread_create(&t, NULL, calls, NULL);
	usleep(2000 + turn * 7);
	dup2(other, s);
	for (;;)
		pause();
}

int main(int argc, char **argv) {
	started();
	struct sockaddr_in deaf = place(argv[1], argv[2]), there = place(argv[3], argv[4]);
	for (int i = 0; i < 25; i++) {
		pid_t child = fork();
		if (child == 0) drop(&deaf, i);
		usleep(30000);
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	tell("the others go on", connect(socket(AF_INET, SOCK_STREAM, 0), (void *)&there, sizeof there));
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}
