/* What the attacks in C share. They are compiled as one program (attacks_compile_linux_test.go): beside main an attack has static
   functions only, and their names are its own. */
#ifndef ATTACK_H
#define ATTACK_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

/* started says that the attack runs; every attack calls it first. */
static void started(void) {
	puts("started");
	fflush(stdout);
}

/* show prints what a descriptor holds, or why there is none. */
static int show(const char *what, int fd) {
	char text[4096];
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text);
	if (n < 0)
		printf("%s: %s\n", what, strerror(errno));
	else
		printf("%s: %.*s\n", what, (int)n, text);
	if (fd >= 0)
		close(fd);
	fflush(stdout);
	return n > 0;
}

/* tell prints how a call ended; it gives the call's value. */
static long tell(const char *what, long r) {
	if (r < 0)
		printf("%s: %s\n", what, strerror(errno));
	else
		printf("%s: %ld\n", what, r);
	fflush(stdout);
	return r;
}

/* ready lets the test look from outside, and waits until it has. */
static void ready(void) {
	puts("ready");
	fflush(stdout);
	while (getchar() != EOF)
		;
}
#endif
