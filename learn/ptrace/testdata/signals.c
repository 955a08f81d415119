// A flood of signals with their values while files are opened: each arrives once, with its siginfo.
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static volatile int count, wrong, sender;
static void on(int sig, siginfo_t *si, void *ctx) {
	if (si->si_code != SI_QUEUE || si->si_value.sival_int != count || si->si_pid != sender) wrong++;
	count++;
}
int main(int argc, char **argv) {
	struct sigaction sa;
	memset(&sa, 0, sizeof sa);
	sa.sa_sigaction = on;
	sa.sa_flags = SA_SIGINFO | SA_RESTART;
	sigaction(SIGRTMIN, &sa, 0);
	sender = getpid();
	for (int i = 0; i < 500; i++) {
		union sigval v = {.sival_int = i};
		if (sigqueue(getpid(), SIGRTMIN, v)) return 2;
		int fd = open(argv[1], O_RDONLY);
		if (fd < 0) return 3;
		close(fd);
	}
	if (count != 500 || wrong) { fprintf(stderr, "%d signals, %d wrong\n", count, wrong); return 1; }
	raise(SIGTERM);
	return 4;
}
