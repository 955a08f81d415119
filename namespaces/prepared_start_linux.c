// Does to the process: makes groups, a Landlock ruleset and the keeper of a prepared launch; blocks the signals that psb passes on.
// Undone: by psb_prepared_stop, but for the program's own doing.
// Preconditions: the constructor, single-threaded; nothing the launch rests on has changed.
// Called by: prepared_linux.c.
// Proved by: TestPrepared, TestPreparedFollowsTheHost, TestPreparedHandsOver.
#define _GNU_SOURCE
#include "prepared_linux.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { ACT_MKDIR = 1, ACT_MKDIR_ANY, ACT_WRITE, IGNORED_AT = 28, BLOCKED_AT = 36 }; // encode.go puts the two masks there

const char *psb_prepared_path(struct prepared *p, struct running *r, const char *text) {
	static char out[4096];
	const char *at = p->group.n ? strstr(text, p->group.s) : NULL;
	if (!at) return text;
	snprintf(out, sizeof out, "%.*s%s%s", (int)(at - text), text, r->group, at + p->group.n);
	return out;
}

// name is cgroups.Name of this process, as wide as what stands for it.
static bool name(struct prepared *p, struct running *r) {
	char stat[1024], *at;
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, stat, sizeof stat - 1);
	unsigned long long start;
	if (fd >= 0) close(fd);
	if (n <= 0) return false;
	stat[n] = 0;
	if (!(at = strrchr(stat, ')'))) return false;
	for (int i = 0; i < 20 && at; i++) at = strchr(at + 1, ' ');
	if (!at || sscanf(at, " %llu", &start) != 1) return false;
	return snprintf(r->group, sizeof r->group, "psb-%010d-%020llu-0", getpid(), start) == (int)p->group.n;
}

static bool act(struct prepared *p, struct running *r, struct cursor *c) {
	uint32_t kind = psb_u32(c);
	const char *path = psb_prepared_path(p, r, psb_text(c).s);
	struct text value = psb_text(c);
	if (kind == ACT_MKDIR) return mkdir(path, 0755) == 0;
	if (kind == ACT_MKDIR_ANY) return mkdir(path, 0755) == 0 || errno == EEXIST;
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	bool done = fd >= 0 && write(fd, value.s, value.n) == (ssize_t)value.n;
	if (fd >= 0) close(fd);
	return done;
}

static bool groups(struct prepared *p, struct running *r) {
	struct cursor c = p->acts;
	for (uint32_t i = 0; i < p->nacts; i++) if (!act(p, r, &c)) return false;
	return true;
}

static void remove_groups(struct prepared *p, struct running *r) {
	const struct timespec nap = {0, 200 * 1000};
	struct cursor c = p->acts;
	for (uint32_t i = 0; i < p->nacts; i++) {
		uint32_t kind = psb_u32(&c);
		const char *path = psb_prepared_path(p, r, psb_text(&c).s);
		psb_text(&c);
		if (kind != ACT_MKDIR) continue;
		for (int tries = 0; tries < 5000 && rmdir(path) != 0 && errno == EBUSY; tries++) nanosleep(&nap, NULL);
	}
}

// ruleset: as the ordinary start makes it. Each standard descriptor that is a file gets a rule of its own, so that it can be opened again.
static int ruleset(struct prepared *p) {
	const uint64_t handled[3] = {p->fs, p->net, p->scoped};
	int fd = (int)syscall(SYS_landlock_create_ruleset, handled, sizeof handled, 0);
	if (fd < 0) return -1;
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	for (int i = 0; i < 3; i++) {
		struct stat st;
		struct landlock_path_beneath_attr rule = {.parent_fd = i};
		int mode = fcntl(i, F_GETFL);
		if (fstat(i, &st) != 0 || !S_ISREG(st.st_mode) || mode < 0 || (mode & O_ACCMODE) > O_RDWR) continue;
		rule.allowed_access = p->stdio[mode & O_ACCMODE];
		if (rule.allowed_access == 0) continue;
		// EBADFD: a memfd stands on no mount that a rule could name.
		if (syscall(SYS_landlock_add_rule, fd, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0 && errno != EBADFD) { close(fd); return -1; }
	}
	return fd;
}

// plain: what is a folder or a socket is judged in Go.
static bool plain(void) {
	struct stat st;
	for (int fd = 0; fd < 3; fd++) if (fstat(fd, &st) != 0 || S_ISDIR(st.st_mode) || S_ISSOCK(st.st_mode)) return false;
	return true;
}

struct builder { unsigned char *b; size_t n, room; };

static void put(struct builder *o, const void *data, size_t n) {
	if (o->n + n > o->room) {
		o->room = 2 * (o->n + n);
		if (!(o->b = realloc(o->b, o->room))) _exit(125);
	}
	memcpy(o->b + o->n, data, n);
	o->n += n;
}
static void put_u32(struct builder *o, uint32_t v) { const unsigned char b[4] = {(unsigned char)v, (unsigned char)(v >> 8), (unsigned char)(v >> 16), (unsigned char)(v >> 24)}; put(o, b, 4); }
static void put_u64(unsigned char *at, uint64_t v) { for (int i = 0; i < 8; i++) at[i] = (unsigned char)(v >> (8 * i)); }
static void put_text(struct builder *o, const char *s) { put_u32(o, (uint32_t)strlen(s)); put(o, s, strlen(s) + 1); }

// callers gives NAME=value of the caller's environment for "NAME=".
static const char *callers(const char *name) {
	for (char **e = environ; *e; e++) if (strncmp(*e, name, strlen(name)) == 0) return *e;
	return NULL;
}

static bool encode(struct prepared *p, struct running *r, char **words, uint32_t nwords, struct builder *o) {
	o->room = p->head.n + p->tail.n + (1 << 16); // most command lines and environments
	if (!(o->b = malloc(o->room))) return false;
	put(o, p->head.s, p->head.n);
	put_u32(o, p->argv.n + nwords);
	for (uint32_t i = 0; i < p->argv.n; i++) put_text(o, p->argv.v[i]);
	for (uint32_t i = 0; i < nwords; i++) put_text(o, words[i]);
	put_u32(o, p->env.n);
	for (uint32_t i = 0; i < p->env.n; i++) {
		const char *kv = p->from_caller[i] ? callers(p->env.v[i]) : p->env.v[i];
		if (!kv) return false;
		put_text(o, kv);
	}
	put(o, p->tail.s, p->tail.n);
	if (p->head.n < BLOCKED_AT + 8) return false;
	put_u64(o->b + IGNORED_AT, psb_ignored_at_start);
	put_u64(o->b + BLOCKED_AT, psb_blocked_at_start);
	if (p->group.n == 0) return true;
	for (unsigned char *at = o->b, *end = o->b + p->head.n; (at = memmem(at, (size_t)(end - at), p->group.s, p->group.n)); at += p->group.n) memcpy(at, r->group, p->group.n);
	return true;
}

// The keeper is this very process forked: what the caller's environment and command line held must not stay in its memory.
static void forget(char **argv) {
	static const char name[] = "psb-init";
	char *end = argv[0];
	for (char **e = environ; *e; e++) explicit_bzero(*e, strlen(*e));
	for (char **a = argv; *a; a++) {
		if (*a == end) end += strlen(*a) + 1; // as the kernel lays them out
		explicit_bzero(*a, strlen(*a));
	}
	if (end - argv[0] >= (ptrdiff_t)sizeof name) memcpy(argv[0], name, sizeof name);
	prctl(PR_SET_NAME, name, 0, 0, 0);
}

static _Noreturn void keeper(struct builder *o, char **argv, int control, int start, int rules) {
	static struct spec spec;
	struct sigaction plain = {.sa_handler = SIG_DFL};
	sigset_t all;
	sigaction(SIGCHLD, &plain, NULL);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	// Out of the way first: each of the three may hold another's number.
	int from[3] = {fcntl(control, F_DUPFD, 32), fcntl(start, F_DUPFD, 32), rules < 0 ? -1 : fcntl(rules, F_DUPFD, 32)};
	for (int i = 0; i < 3; i++) if ((i < 2 || rules >= 0) && (from[i] < 0 || dup2(from[i], FD_CONTROL + i) < 0)) _exit(125);
	close(FD_SPEC);
	if (syscall(SYS_close_range, rules >= 0 ? FD_FIRST_FREE : FD_RULESET, ~0U, 0) != 0) psb_fail(FD_CONTROL, "namespaces", "close_range");
	if (!psb_decode(o->b, o->n, &spec)) {
		errno = EINVAL;
		psb_fail(FD_CONTROL, "decode", "BUG: the prepared launch does not fit");
	}
	forget(argv);
	psb_keeper(&spec);
}

// hear takes one message of the start socket, with the sender's pid as the kernel knows it; descriptors that come along are kept.
static bool hear(struct running *r, struct message *m, pid_t *who) {
	union { struct cmsghdr head; char room[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(sizeof r->network)]; } box;
	struct iovec part = {m, sizeof *m};
	struct msghdr h = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &box, .msg_controllen = sizeof box};
	struct ucred cred = {0, 0, 0};
	ssize_t n;
	do n = recvmsg(r->start, &h, MSG_CMSG_CLOEXEC); while (n < 0 && errno == EINTR);
	if (n != (ssize_t)sizeof *m) return false;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&h); c; c = CMSG_NXTHDR(&h, c)) {
		if (c->cmsg_level != SOL_SOCKET) continue;
		if (c->cmsg_type == SCM_CREDENTIALS) memcpy(&cred, CMSG_DATA(c), sizeof cred);
		if (c->cmsg_type == SCM_RIGHTS && r->network[0] < 0 && c->cmsg_len == CMSG_LEN(sizeof r->network)) memcpy(r->network, CMSG_DATA(c), sizeof r->network);
	}
	*who = cred.pid;
	return true;
}

static bool ready(struct running *r) {
	struct message m;
	if (!hear(r, &m, &r->program) || (m.kind == M_NET && !hear(r, &m, &r->program))) return false;
	return m.kind == M_READY && r->program > 0;
}

static bool go(int start) {
	struct message m = {.kind = M_GO};
	return send(start, &m, sizeof m, MSG_NOSIGNAL) == (ssize_t)sizeof m;
}

static int listener(struct running *r) {
	struct message m;
	if (!psb_receive(r->start, &m) || m.kind != M_LISTENER) return -1;
	int fd = -1, pidfd = (int)syscall(SYS_pidfd_open, r->program, 0);
	if (pidfd >= 0) {
		fd = (int)syscall(SYS_pidfd_getfd, pidfd, m.a, 0);
		close(pidfd);
	}
	m = (struct message){.kind = M_TAKEN};
	if (fd >= 0 && send(r->start, &m, sizeof m, MSG_NOSIGNAL) != (ssize_t)sizeof m) { close(fd); fd = -1; }
	return fd;
}

// follow goes along until the execve(2): the end of the start socket's other side.
static bool follow(struct prepared *p, struct running *r, uint32_t flags) {
	struct message m;
	if (flags & BOX_AWAIT && (!groups(p, r) || !go(r->start))) return false;
	if (!ready(r) || !go(r->start)) return false;
	if (flags & BOX_LISTENER && (r->listener = listener(r)) < 0) return false;
	return !psb_receive(r->start, &m);
}

static void hold_signals(void) {
	static const int passed[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH, SIGCONT, SIGTSTP, SIGTTIN, SIGTTOU};
	sigset_t set;
	sigemptyset(&set);
	for (size_t i = 0; i < sizeof passed / sizeof *passed; i++) if (!(psb_ignored_at_start >> (passed[i] - 1) & 1)) sigaddset(&set, passed[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

void psb_free_signals(void) {
	sigset_t mask;
	sigemptyset(&mask);
	for (int i = 1; i <= 64; i++) if (psb_blocked_at_start >> (i - 1) & 1) sigaddset(&mask, i);
	sigprocmask(SIG_SETMASK, &mask, NULL);
}

void psb_prepared_stop(struct prepared *p, struct running *r) {
	if (r->keeper > 0) {
		shutdown(r->control, SHUT_WR); // the stages take it as the order to end; the groups are ours to remove
		kill(r->keeper, SIGCONT);
		while (waitpid(r->keeper, NULL, 0) < 0 && errno == EINTR) { }
	}
	remove_groups(p, r);
	for (int *fd = &r->control; fd <= &r->first; fd++) if (*fd >= 0) close(*fd);
}

bool psb_prepared_start(struct prepared *p, char **words, uint32_t nwords, struct running *r) {
	int control[2], start[2], on = 1, rules = -1;
	struct builder o = {NULL, 0, 0};
	*r = (struct running){.control = -1, .start = -1, .listener = -1, .network = {-1, -1}, .first = -1};
	if (!plain() || (p->group.n && !name(p, r)) || !encode(p, r, words, nwords, &o)) { free(o.b); return false; }
	if (p->flags & PREPARED_LANDLOCK && (rules = ruleset(p)) < 0) { free(o.b); return false; }
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control) != 0) { close(rules); free(o.b); return false; }
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, start) != 0) { close(control[0]); close(control[1]); close(rules); free(o.b); return false; }
	setsockopt(start[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
	r->control = control[0];
	r->start = start[0];
	hold_signals();
	if ((r->keeper = psb_clone(0, NULL)) == 0) keeper(&o, p->command, control[1], start[1], rules);
	close(control[1]);
	close(start[1]);
	if (rules >= 0) close(rules);
	uint32_t flags = (uint32_t)o.b[8] | (uint32_t)o.b[9] << 8; // magic, version, flags
	free(o.b);
	if (r->keeper > 0 && follow(p, r, flags)) return true;
	psb_prepared_stop(p, r);
	psb_free_signals();
	return false;
}
