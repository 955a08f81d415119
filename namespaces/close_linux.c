// Does to the process: closes descriptors of its own that it was told it no longer needs, many by one call.
// Undone: not; nothing is behind them any more.
// Preconditions: single-threaded, as the list is the process's.
// Called by: mounts_linux.c, root_linux.c, walls_linux.c.
// Proved by: TestManyActs, TestOnlyStdio.
//
// A root is some hundred mounts and as many rules, each by two or three descriptors that nobody needs afterwards. The kernel gives the lowest number
// that is free, so those that are let go one after the other stand beside each other.
#define _GNU_SOURCE
#include "stage2_linux.h"
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST = 24, ROOM = 256 };

static int list[MOST];
static unsigned n, most; // that stay open before they are closed: none where few may be open

void psb_closed(void) {
	for (unsigned i = 0, j; i < n; i = j) {
		for (j = i + 1; j < n && list[j] == list[j - 1] + 1; j++) { }
		if (j - i == 1 || syscall(SYS_close_range, list[i], list[j - 1], 0) != 0)
			for (; i < j; i++) close(list[i]);
	}
	n = 0;
}

void psb_close(int fd) {
	struct rlimit may;
	if (n == 0) most = getrlimit(RLIMIT_NOFILE, &may) == 0 && may.rlim_cur < ROOM ? 1 : MOST; // each time: the program's own limit is set on the way
	list[n++] = fd;
	if (n >= most) psb_closed();
}
