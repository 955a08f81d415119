// Does to the process: becomes the program: waits for psb, restores what psb's caller had, installs the filter, execve(2).
// Undone: not.
// Preconditions: forked by the reaper behind its walls; all signals blocked.
// Called by: reaper_linux.c.
// Proved by: TestExitStatus, TestExecErrors, TestOnlyStdio, TestSignals, TestFilter, TestListener.
#define _GNU_SOURCE
#include "stage2_linux.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

static void dispositions(struct spec *s) {
	sigset_t mask;
	for (int i = 1; i <= 64; i++) { // SIGKILL, SIGSTOP and the C library's own two are refused
		struct sigaction a = {.sa_handler = s->ignored >> (i - 1) & 1 ? SIG_IGN : SIG_DFL};
		(void)sigaction(i, &a, NULL);
	}
	sigemptyset(&mask);
	for (int i = 1; i <= 64; i++) if (s->mask >> (i - 1) & 1) sigaddset(&mask, i);
	sigprocmask(SIG_SETMASK, &mask, NULL);
}

bool psb_install_filter(const struct text *program, unsigned flags, long *result) {
	struct sock_fprog prog = {.len = (unsigned short)(program->n / 8), .filter = (struct sock_filter *)(uintptr_t)program->s};
	*result = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &prog);
	return *result >= 0;
}

// filter: with a listener, its number goes to psb, which takes it with pidfd_getfd(2) before the copy here is closed.
static void filter(struct spec *s) {
	struct message m = {0};
	long got;
	if (s->filter.n == 0) return;
	if (!(s->flags & BOX_LISTENER)) {
		if (!psb_install_filter(&s->filter, 0, &got)) psb_fail(FD_START, "seccomp", "install the filter");
		return;
	}
	// Linux 5.19: a signal does not make a call come twice while psb decides about it.
	if (!psb_install_filter(&s->filter, SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, &got)) {
		if (errno != EINVAL || !psb_install_filter(&s->filter, SECCOMP_FILTER_FLAG_NEW_LISTENER, &got)) psb_fail(FD_START, "seccomp", "install the filter with a listener");
	}
	m.kind = M_LISTENER;
	m.a = (int32_t)got;
	if (!psb_send(FD_START, &m) || !psb_receive(FD_START, &m) || m.kind != M_TAKEN) psb_fail(FD_START, "seccomp", "psb did not take the listener");
	close((int)got);
}

void psb_program(struct spec *s, int gate) {
	struct message m = {.kind = M_READY};
	char byte;
	// Without a pid namespace the end of a killed reaper is at least the program's.
	if (!(s->flags & BOX_PID) && prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) psb_fail(FD_START, "namespaces", "prctl(PR_SET_PDEATHSIG)");
	if (read(gate, &byte, 1) != 1) _exit(125); // the reaper said why
	// The reaper is not dumpable, and a change of ids cleared it, too; psb has to reach this process, to trace it or to take its listener.
	if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) != 0) psb_fail(FD_START, "namespaces", "prctl(PR_SET_DUMPABLE)");
	// Whatever else came along is not the program's: only 0, 1, 2 go in. The start end closes by itself at the execve.
	if (syscall(SYS_close_range, 3, FD_START - 1, 0) != 0 || syscall(SYS_close_range, FD_START + 1, ~0U, 0) != 0) psb_fail(FD_START, "namespaces", "close_range");
	if (fcntl(FD_START, F_SETFD, FD_CLOEXEC) != 0) psb_fail(FD_START, "namespaces", "fcntl");
	if (chdir(s->dir.s) != 0) psb_fail(FD_START, "mounts", "working folder %s", s->dir.s);
	memcpy(m.text, psb_times, sizeof psb_times);
	if (!psb_send(FD_START, &m) || !psb_receive(FD_START, &m) || m.kind != M_GO) _exit(125); // psb is gone
	dispositions(s);
	filter(s);
	execve(s->exec.s, s->argv.v, s->env.v);
	psb_fail(FD_START, "exec", "%s", s->exec.s);
}
