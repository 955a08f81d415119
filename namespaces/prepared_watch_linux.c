// Does to the process: waits for the program's end and ends with its status, without the Go runtime.
// Undone: not.
// Preconditions: psb_prepared_start; the signals psb passes on are blocked.
// Called by: prepared_linux.c.
// Proved by: TestPrepared, TestPreparedHandsOver.
#define _GNU_SOURCE
#include "prepared_linux.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/syscall.h>
#include <unistd.h>

// peek looks at the next message of the stages without taking it: what is not for here is Go's to read.
static uint32_t peek(int fd, struct message *m) {
	ssize_t n;
	do n = recv(fd, m, sizeof *m, MSG_PEEK); while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof *m ? m->kind : 0;
}

// take reads the message with the first process's descriptor.
static bool take(struct running *r) {
	union { struct cmsghdr head; char room[CMSG_SPACE(sizeof(int))]; } box;
	struct message m;
	struct iovec part = {&m, sizeof m};
	struct msghdr h = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &box, .msg_controllen = sizeof box};
	ssize_t n;
	do n = recvmsg(r->control, &h, MSG_CMSG_CLOEXEC); while (n < 0 && errno == EINTR);
	struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&h) : NULL;
	if (!c || c->cmsg_type != SCM_RIGHTS) return false;
	memcpy(&r->first, CMSG_DATA(c), sizeof r->first);
	return true;
}

// refused: the control group says "max N" of the processes it refused.
static bool refused(struct prepared *p, struct running *r) {
	char text[256];
	if (p->refusals.n == 0) return false;
	int fd = open(psb_prepared_path(p, r, p->refusals.s), O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	if (fd >= 0) close(fd);
	if (n <= 0) return true; // Go looks closer
	text[n] = 0;
	return strcmp(text, "max 0\n") != 0;
}

static bool planted(struct prepared *p) {
	struct stat st;
	for (uint32_t i = 0; i < p->watched.n; i++) if (lstat(p->watched.v[i], &st) == 0) return true;
	return false;
}

// finish: an end that needs no words.
static void finish(struct prepared *p, struct running *r, const struct message *m) {
	struct message alive = {.kind = M_ALIVE}, gone;
	struct pollfd first = {r->first, POLLIN, 0};
	if (!WIFEXITED(m->a) || r->first < 0 || refused(p, r) || planted(p)) return;
	(void)!psb_receive(r->control, &gone);
	(void)!send(r->control, &alive, sizeof alive, MSG_NOSIGNAL);
	while (waitpid(r->keeper, NULL, 0) < 0 && errno == EINTR) { }
	(void)syscall(SYS_pidfd_send_signal, r->first, SIGKILL, NULL, 0); // gone, unless the keeper was killed
	while (poll(&first, 1, -1) < 0 && errno == EINTR) { }
	r->keeper = 0;
	psb_prepared_stop(p, r);
	_exit(WEXITSTATUS(m->a)); // with the signals still held: the program had its own copy of one that waits here, and its status is the answer
}

static bool stops(int sig) { return sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU; }

// whole_group: a terminal signals all of its foreground group, psb and the program alike: signal(7), termios(3).
static bool whole_group(int sig, int code) {
	return code == SI_KERNEL && (sig == SIGINT || sig == SIGQUIT || sig == SIGWINCH || stops(sig));
}

static void pass_on(struct running *r, int sig, bool whole) {
	struct message m = {.kind = M_SIGNAL, .a = sig, .b = whole};
	(void)!send(r->control, &m, sizeof m, MSG_NOSIGNAL | MSG_DONTWAIT);
}

// job takes what the stages tell of the program's state, up to the newest: psb stops as its program did, and its shell sees a stopped job.
// What is passed on, held back and dropped is as in cmd/psb/forward_linux.go.
static void job(struct running *r, int arrived) {
	struct message m;
	struct signalfd_siginfo late;
	struct pollfd more = {r->control, POLLIN, 0}, signals = {arrived, POLLIN, 0};
	bool stopped = false;
	for (uint32_t kind; poll(&more, 1, 0) > 0 && ((kind = peek(r->control, &m)) == M_STOPPED || kind == M_CONTINUED); stopped = kind == M_STOPPED) (void)!psb_receive(r->control, &m);
	if (!stopped) return;
	int terminal = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);
	if (terminal < 0) return; // nobody's job: a program that stops itself would stop what bounds it
	close(terminal);
	kill(getpid(), SIGSTOP);
	while (poll(&signals, 1, 0) > 0 && read(arrived, &late, sizeof late) == (ssize_t)sizeof late) if (!stops((int)late.ssi_signo)) pass_on(r, (int)late.ssi_signo, whole_group((int)late.ssi_signo, late.ssi_code));
}

enum { OWN_STOP = 50 }; // ms: how long a program in front of a terminal is given to stop by itself

void psb_prepared_watch(struct prepared *p, struct running *r) {
	sigset_t blocked;
	struct message m;
	struct signalfd_siginfo came;
	sigprocmask(SIG_BLOCK, NULL, &blocked);
	for (int i = 1; i <= 64; i++) if (psb_blocked_at_start >> (i - 1) & 1) sigdelset(&blocked, i);
	int arrived = signalfd(-1, &blocked, SFD_CLOEXEC), held = 0;
	bool whole = false;
	struct pollfd f[3] = {{r->control, POLLIN, 0}, {arrived, POLLIN, 0}, {r->listener, POLLIN, 0}};
	for (bool on = arrived >= 0; on;) {
		int n = poll(f, 3, held ? OWN_STOP : -1);
		if (n < 0 && errno != EINTR) break;
		if (n <= 0) {
			if (n == 0 && held) pass_on(r, held, whole);
			held = n == 0 ? 0 : held;
			continue;
		}
		if (f[2].revents & POLLIN) break;
		if (f[2].revents) f[2].fd = -1; // nobody is left behind the filter
		if (f[0].revents) {
			uint32_t kind = peek(r->control, &m);
			if (kind == M_EXIT) finish(p, r, &m);
			if (kind == M_STOPPED || kind == M_CONTINUED) {
				held = 0;
				job(r, arrived);
			} else on = kind == M_BOX && take(r);
		}
		if (on && f[1].revents && read(arrived, &came, sizeof came) == (ssize_t)sizeof came) {
			whole = whole_group((int)came.ssi_signo, came.ssi_code);
			if (stops((int)came.ssi_signo)) held = (int)came.ssi_signo;
			else pass_on(r, (int)came.ssi_signo, whole);
		}
	}
	if (held) pass_on(r, held, whole);
	if (arrived >= 0) close(arrived);
}
