// Does to the process: makes children and ends all that descend from it.
// Undone: not.
// Preconditions: single-threaded; psb_kill_children: the process is a child subreaper, and nothing but what shall end is below it.
// Called by: keeper_linux.c, reaper_linux.c.
// Proved by: TestKillAnyStage, TestDaemonisedChildEnds.
#define _GNU_SOURCE
#include "stage2_linux.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// The raw call: a child on a copy of this stack. Single-threaded, so nothing of the C library needs telling, and nothing that other parts
// of the binary registered with pthread_atfork(3) runs.
pid_t psb_clone(unsigned long flags, int *pidfd) { return (pid_t)syscall(SYS_clone, flags | SIGCHLD, 0, pidfd, 0, 0); }

// Linux with CONFIG_PROC_CHILDREN.
int psb_children(void) {
	char file[64];
	snprintf(file, sizeof file, "/proc/self/task/%d/children", (int)getpid());
	return open(file, O_RDONLY | O_CLOEXEC);
}

// What is killed hands its children over to this subreaper. known is killed in any case; a reader that may not read (-1, or a filter in the
// way) ends with it.
void psb_kill_children(int list, pid_t known) {
	const struct timespec nap = {0, 1000 * 1000};
	char buf[8192];
	for (;;) {
		ssize_t n = pread(list, buf, sizeof buf, 0);
		bool some = n < 0 && known > 1 && kill(known, SIGKILL) == 0;
		long pid = 0;
		for (ssize_t i = 0; i < n; i++) { // a number cut off by the end of buf is left for the next round: it would be another process's
			if (buf[i] >= '0' && buf[i] <= '9') { pid = pid * 10 + (buf[i] - '0'); continue; }
			if (pid > 1 && kill((pid_t)pid, SIGKILL) == 0) some = true;
			pid = 0;
		}
		pid_t got;
		do got = waitpid(-1, NULL, __WALL | (some ? 0 : WNOHANG)); while (got < 0 && errno == EINTR);
		if (got < 0 || (n < 0 && (got == 0 || got == known))) return; // ECHILD: nobody is left
		if (got == 0) nanosleep(&nap, NULL);
		while (waitpid(-1, NULL, __WALL | WNOHANG) > 0) { }
	}
}

// psb_die_with_keeper makes the keeper's end this process's. life's other end is the keeper's alone: getppid(2), which would tell that it
// died before the call, is 0 in a pid namespace. Without a pid namespace the reaper has to outlive the keeper, to end what is below it.
void psb_die_with_keeper(struct spec *s, int life) {
	struct pollfd p = {life, 0, 0};
	if (!(s->flags & BOX_PID)) return;
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) psb_fail(FD_CONTROL, "namespaces", "prctl(PR_SET_PDEATHSIG)");
	if (poll(&p, 1, 0) != 0) _exit(1);
}
