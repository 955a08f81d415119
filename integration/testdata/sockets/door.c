// Connects to a socket of the host while another thread changes what the call rests on. argv: path of the host's socket, path for an own one.
// Three rounds, each with a count for a fuse: the address alone, the path in it flipped, the descriptor flipped. It prints "started" and
// what each round saw: "ROUND own N refused N other N".
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { ROUNDS = 400 };

static struct sockaddr_un address = {.sun_family = AF_UNIX};
static const char *host, *own;
static volatile int stop;
static int number, first, second;

// put writes the path and lets it stand for a moment.
static void put(const char *path) {
	memcpy(address.sun_path, path, sizeof address.sun_path);
	__asm__ volatile("" ::: "memory"); // the other thread and the kernel read it
	for (volatile int i = 0; i < 2000; i++) { }
}

static void *flip_path(void *unused) {
	char a[sizeof address.sun_path] = "", b[sizeof address.sun_path] = "";
	strncpy(a, own, sizeof a - 1);
	strncpy(b, host, sizeof b - 1);
	while (!stop) {
		put(a);
		put(b);
	}
	return unused;
}

static void *flip_descriptor(void *unused) {
	while (!stop) {
		dup2(first, number);
		dup2(second, number);
	}
	return unused;
}

static void *serve(void *listener) {
	for (int fd; (fd = accept(*(int *)listener, NULL, NULL)) >= 0; close(fd)) { }
	return NULL;
}

static void report(const char *name, int own_, int refused, int other) {
	printf("%s own %d refused %d other %d\n", name, own_, refused, other);
	fflush(stdout);
}

// peer tells which server a connected socket reached.
static int reached_own(int fd) {
	struct sockaddr_un peer = {0};
	socklen_t n = sizeof peer;
	return getpeername(fd, (struct sockaddr *)&peer, &n) == 0 && strcmp(peer.sun_path, own) == 0;
}

static void many(const char *name, void *(*flip)(void *)) {
	int mine = 0, refused = 0, other = 0;
	pthread_t thread;
	stop = 0;
	if (flip) pthread_create(&thread, NULL, flip, NULL);
	for (int i = 0; i < ROUNDS; i++) {
		int fd = socket(AF_UNIX, SOCK_STREAM, 0);
		if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0) { if (reached_own(fd)) mine++; else other++; }
		else if (errno == EACCES) refused++;
		else other++;
		close(fd);
	}
	stop = 1;
	if (flip) pthread_join(thread, NULL);
	report(name, mine, refused, other);
}

static void descriptors(void) {
	int mine = 0, refused = 0, other = 0;
	pthread_t thread;
	stop = 0;
	number = 100;
	first = socket(AF_INET, SOCK_STREAM, 0);
	second = socket(AF_UNIX, SOCK_STREAM, 0);
	dup2(first, number);
	pthread_create(&thread, NULL, flip_descriptor, NULL);
	for (int i = 0; i < ROUNDS; i++) {
		if (connect(number, (struct sockaddr *)&address, sizeof address) == 0) mine++;
		else if (errno == EACCES) refused++;
		else other++; // the other socket's word for an address that does not fit it
	}
	stop = 1;
	pthread_join(thread, NULL);
	report("descriptor", mine, refused, other);
}

int main(int argc, char **argv) {
	struct sockaddr_un mine = {.sun_family = AF_UNIX};
	pthread_t server;
	if (argc != 3) return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("started\n");
	host = argv[1];
	own = argv[2];
	strncpy(mine.sun_path, own, sizeof mine.sun_path - 1);
	int listener = socket(AF_UNIX, SOCK_STREAM, 0);
	unlink(own);
	if (bind(listener, (struct sockaddr *)&mine, sizeof mine) != 0 || listen(listener, 64) != 0) { perror(own); return 1; }
	pthread_create(&server, NULL, serve, &listener);
	strncpy(address.sun_path, host, sizeof address.sun_path - 1);
	many("plain", NULL);
	many("path", flip_path);
	strncpy(address.sun_path, host, sizeof address.sun_path - 1);
	descriptors();
	unlink(own);
	return 0;
}
