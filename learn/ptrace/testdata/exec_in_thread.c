// exec from a thread that is not the first one; the new program opens argv[1].
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
#include <fcntl.h>
static char **av;
static void *other(void *x) { for (;;) pause(); return x; }
static void *run(void *x) { execl("/bin/cat", "cat", av[1], (char *)0); return x; }
int main(int argc, char **argv) {
	pthread_t t[5];
	av = argv;
	for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, other, 0);
	pthread_create(&t[4], 0, run, 0);
	for (;;) pause();
}
