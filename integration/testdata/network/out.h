/* What the programs in C share. */
#ifndef OUT_H
#define OUT_H
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define UNUSED __attribute__((unused))

/* place is the IPv4 address of a host, by name or number, with a port. */
UNUSED static struct sockaddr_in place(const char *host, const char *port) {
	struct addrinfo want = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *got;
	struct sockaddr_in a = {.sin_family = AF_INET};
	int e = getaddrinfo(host, port, &want, &got);
	if (e) {
		printf("%s: %s\n", host, gai_strerror(e));
		return a;
	}
	memcpy(&a, got->ai_addr, sizeof a);
	freeaddrinfo(got);
	return a;
}

/* now is the time in seconds. */
UNUSED static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* tell prints how a call ended; it gives the call's value. */
UNUSED static long tell(const char *what, long r) {
	if (r < 0)
		printf("%s: %s\n", what, strerror(errno));
	else
		printf("%s: %ld\n", what, r);
	fflush(stdout);
	return r;
}

UNUSED static void started(void) {
	puts("started");
	fflush(stdout);
}

/* ready lets the test look from outside, and waits until it has. */
UNUSED static void ready(void) {
	puts("ready");
	fflush(stdout);
	while (getchar() != EOF)
		;
}
#endif
