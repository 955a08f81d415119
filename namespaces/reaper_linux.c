// Does to the process: becomes pid 1 of the box: root, walls, the program's start; then it reaps, reports and ends with psb.
// Undone: not; its end ends everything in the box.
// Preconditions: cloned by the keeper with the box's namespaces; all signals blocked.
// Called by: keeper_linux.c.
// Proved by: TestExitStatus, TestStopped, TestKillAnyStage, TestOnlyStdio, TestDaemonisedChildEnds.
#define _GNU_SOURCE
#include "stage2_linux.h"
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef CLONE_NEWCGROUP
#define CLONE_NEWCGROUP 0x02000000
#endif

static void loopback(void) {
	struct ifreq ifr = {.ifr_flags = 0};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0) psb_fail(FD_CONTROL, "namespaces", "socket for loopback");
	strcpy(ifr.ifr_name, "lo");
	if (ioctl(fd, SIOCGIFFLAGS, &ifr) != 0) psb_fail(FD_CONTROL, "namespaces", "read loopback flags");
	ifr.ifr_flags |= IFF_UP;
	if (ioctl(fd, SIOCSIFFLAGS, &ifr) != 0) psb_fail(FD_CONTROL, "namespaces", "bring loopback up");
	close(fd);
}

static void close_others(int keep) {
	// Whatever else came along is not the program's: only 0, 1, 2 go in. The start end closes by itself at the execve.
	if (keep > 3 && syscall(SYS_close_range, 3, keep - 1, 0) != 0) psb_fail(FD_START, "exec", "close_range");
	if (syscall(SYS_close_range, keep + 1, ~0U, 0) != 0) psb_fail(FD_START, "exec", "close_range");
}

static void dispositions(struct spec *s) {
	sigset_t mask;
	for (int i = 1; i < 32; i++) {
		struct sigaction a = {.sa_handler = s->ignored >> (i - 1) & 1 ? SIG_IGN : SIG_DFL};
		if (i != SIGKILL && i != SIGSTOP) sigaction(i, &a, NULL);
	}
	sigemptyset(&mask);
	for (int i = 1; i < 32; i++) if (s->mask >> (i - 1) & 1) sigaddset(&mask, i);
	sigprocmask(SIG_SETMASK, &mask, NULL);
}

static _Noreturn void program(struct spec *s) {
	struct message m = {.kind = M_READY};
	close(FD_CONTROL);
	if (fcntl(FD_START, F_SETFD, FD_CLOEXEC) != 0) psb_fail(FD_START, "exec", "fcntl");
	if (chdir(s->dir.s) != 0) psb_fail(FD_START, "exec", "working folder %s", s->dir.s);
	if (!psb_send(FD_START, &m) || !psb_receive(FD_START, &m) || m.kind != M_GO) _exit(125); // psb is gone
	dispositions(s);
	psb_filter_program(s);
	close_others(FD_START);
	execve(s->exec.s, s->argv.v, s->env.v);
	psb_fail(FD_START, "exec", "%s", s->exec.s);
}

static void report(int kind, int status, const struct rusage *r) {
	struct message m = {.kind = (uint32_t)kind, .a = status};
	if (r) {
		m.c = (uint64_t)r->ru_utime.tv_sec * 1000000 + (uint64_t)r->ru_utime.tv_usec;
		m.d = (uint64_t)r->ru_stime.tv_sec * 1000000 + (uint64_t)r->ru_stime.tv_usec;
		m.e = (uint64_t)r->ru_maxrss;
	}
	if (!psb_send(FD_CONTROL, &m)) _exit(1);
}

static void reap(pid_t child) {
	struct rusage r;
	int status;
	pid_t pid;
	while ((pid = wait4(-1, &status, WNOHANG | WUNTRACED | WCONTINUED | __WALL, &r)) > 0) {
		if (pid != child) continue;
		if (WIFSTOPPED(status)) report(M_STOPPED, WSTOPSIG(status), NULL);
		else if (WIFCONTINUED(status)) report(M_CONTINUED, 0, NULL);
		else {
			report(M_EXIT, status, &r);
			_exit(0); // in a pid namespace the kernel now ends all that is left
		}
	}
}

static _Noreturn void serve(pid_t child, int chld) {
	struct pollfd p[2] = {{FD_CONTROL, POLLIN, 0}, {chld, POLLIN, 0}};
	for (;;) {
		if (poll(p, 2, -1) < 0) {
			if (errno == EINTR) continue;
			_exit(1);
		}
		if (p[1].revents) {
			struct signalfd_siginfo info;
			(void)!read(chld, &info, sizeof info);
			reap(child);
		}
		if (p[0].revents & POLLIN) {
			struct message m;
			if (!psb_receive(FD_CONTROL, &m)) _exit(1);
			if (m.kind == M_SIGNAL && m.a > 0 && m.a < 65) (void)kill(child, m.a);
		} else if (p[0].revents) {
			_exit(1); // psb is gone
		}
	}
}

void psb_reaper(struct spec *s, int sync) {
	char byte;
	sigset_t only;
	long ignored;
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) psb_fail(FD_CONTROL, "namespaces", "prctl(PR_SET_PDEATHSIG)");
	if (read(sync, &byte, 1) != 1) _exit(1); // the keeper said why
	if (s->flags & BOX_CGROUP && unshare(CLONE_NEWCGROUP) != 0) psb_fail(FD_CONTROL, "namespaces", "unshare(CLONE_NEWCGROUP)");
	if (s->hostname.n && sethostname(s->hostname.s, s->hostname.n) != 0) psb_fail(FD_CONTROL, "namespaces", "sethostname");
	if (s->flags & BOX_LOOPBACK) loopback();
	if (s->flags & BOX_MOUNT && s->nops) psb_build_root(s);
	psb_walls(s, sync);
	close(sync);
	pid_t child = fork();
	if (child < 0) psb_fail(FD_CONTROL, "exec", "fork");
	if (child == 0) program(s);
	close(FD_START);
	if (syscall(SYS_close_range, FD_START, ~0U, 0) != 0) psb_fail(FD_CONTROL, "exec", "close_range");
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) psb_fail(FD_CONTROL, "exec", "prctl(PR_SET_DUMPABLE)");
	sigemptyset(&only);
	sigaddset(&only, SIGCHLD);
	int chld = signalfd(-1, &only, SFD_CLOEXEC | SFD_NONBLOCK);
	if (chld < 0) psb_fail(FD_CONTROL, "exec", "signalfd");
	close(0);
	close(1);
	close(2); // a reader at the other end of the program's output must see its end when the program closes it
	if (s->reaper.n && !psb_install_filter(&s->reaper, 0, &ignored)) psb_fail(FD_CONTROL, "seccomp", "install the reaper's filter");
	serve(child, chld);
}
