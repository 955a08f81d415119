// Does to the process: becomes pid 1 of the box: root, walls, the program's start; then it reaps, reports and ends with psb or the keeper.
// Undone: not; its end ends everything in the box.
// Preconditions: cloned by the keeper with the box's namespaces; all signals blocked.
// Called by: keeper_linux.c.
// Proved by: TestExitStatus, TestStopped, TestKillAnyStage, TestOutputEnds, TestReaperIsClosed.
#define _GNU_SOURCE
#include "stage2_linux.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <netinet/in.h>
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
#include <time.h>
#include <unistd.h>

#ifndef CLONE_NEWCGROUP
#define CLONE_NEWCGROUP 0x02000000
#endif

// Once the program has its own copies of 0, 1, 2, these numbers serve the reaper: whoever reads the program's output must see its end.
enum { LIFE = 0, CHILDREN = 1, GATE = 2 };

// hand_over gives psb two sockets of the box's network: by the one it tells the box's sockets from the host's, and asks for them where the
// kernel has that (CONFIG_NETLINK_DIAG), else it is any; by the other it sets addresses and routes.
static void hand_over(int any) {
	struct message m = {.kind = M_NET};
	int diag = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	int route = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	int both[2] = {diag >= 0 ? diag : any, route};
	if (route < 0) psb_fail(FD_CONTROL, "namespaces", "socket for routes");
	if (!psb_send_descriptors(FD_START, &m, both, 2)) psb_fail(FD_CONTROL, "namespaces", "hand over sockets of the network");
	if (diag >= 0) close(diag);
	close(route);
}

// make gives psb a new socket of the box's network: TCP or UDP, of IPv4 or IPv6.
static void make(int domain, int kind) {
	struct message m = {.kind = M_SOCKET};
	int fd = socket(domain, kind | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool sent;
	if (fd < 0) {
		m.a = errno;
		sent = psb_send(FD_CONTROL, &m);
	} else {
		sent = psb_send_descriptors(FD_CONTROL, &m, &fd, 1);
		close(fd);
	}
	if (!sent) _exit(1);
}

// second_address gives lo 198.18.0.1/15: the addresses that stand for names are local then, and programs that ask the resolver only for kinds
// of addresses they have themselves (AI_ADDRCONFIG) see one that is not loopback.
static void second_address(int fd) {
	struct ifreq ifr;
	struct sockaddr_in a = {.sin_family = AF_INET};
	memset(&ifr, 0, sizeof ifr);
	strcpy(ifr.ifr_name, "lo:1");
	a.sin_addr.s_addr = htonl(198u << 24 | 18u << 16 | 1);
	memcpy(&ifr.ifr_addr, &a, sizeof a);
	if (ioctl(fd, SIOCSIFADDR, &ifr) != 0) psb_fail(FD_CONTROL, "namespaces", "second address of loopback");
	a.sin_addr.s_addr = htonl(255u << 24 | 254u << 16);
	memcpy(&ifr.ifr_netmask, &a, sizeof a);
	if (ioctl(fd, SIOCSIFNETMASK, &ifr) != 0) psb_fail(FD_CONTROL, "namespaces", "network of loopback's second address");
}

static void loopback(void) {
	struct ifreq ifr = {.ifr_flags = 0};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0) psb_fail(FD_CONTROL, "namespaces", "socket for loopback");
	strcpy(ifr.ifr_name, "lo");
	if (ioctl(fd, SIOCGIFFLAGS, &ifr) != 0) psb_fail(FD_CONTROL, "namespaces", "read loopback flags");
	ifr.ifr_flags |= IFF_UP;
	if (ioctl(fd, SIOCSIFFLAGS, &ifr) != 0) psb_fail(FD_CONTROL, "namespaces", "bring loopback up");
	second_address(fd);
	hand_over(fd);
	close(fd);
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

// paused: psb asks somebody a question, and nothing in the box runs meanwhile. The program's stop and going on for that are nobody's business.
static bool paused, stopped;

// Where the program had stopped processes itself, psb lets the others go on one by one, and all is false.
static void pause_all(bool now, bool all) {
	if (all) (void)kill(-1, now ? SIGSTOP : SIGCONT); // from pid 1 of a pid namespace: everybody in it but itself
	if (now) report(M_PAUSED, 0, NULL);
	paused = now;
}

// end_others: whoever hears of the program's end may rely on it that nothing else of the box runs, either. It is this process that waits for them, not
// the kernel at its own end, so that psb can look at what they left meanwhile.
static void end_others(void) {
	(void)kill(-1, SIGKILL); // from pid 1 of a pid namespace: everybody in it but itself; none can fork any more
	while (wait4(-1, NULL, __WALL, NULL) > 0 || errno == EINTR) { }
}

static void reap(pid_t child, bool alone) {
	struct rusage r;
	int status;
	pid_t pid;
	while ((pid = wait4(-1, &status, WNOHANG | WUNTRACED | WCONTINUED | __WALL, &r)) > 0) {
		if (pid != child) continue;
		if (WIFSTOPPED(status)) {
			if (paused && WSTOPSIG(status) == SIGSTOP) continue;
			stopped = true;
			report(M_STOPPED, WSTOPSIG(status), NULL);
		} else if (WIFCONTINUED(status)) {
			if (stopped) report(M_CONTINUED, 0, NULL);
			stopped = false;
		} else {
			if (alone) end_others();
			report(M_EXIT, status, &r);
			_exit(0); // without a pid namespace the keeper now ends all that is left
		}
	}
}

// undone: stopping and continuing flush each other. Where the group's copy of the one is gone because the other came after it, the program
// has got both.
static bool undone(int sig) {
	sigset_t now;
	if (sigpending(&now) != 0) return false;
	if (sig == SIGCONT) return sigismember(&now, SIGTSTP) == 1 || sigismember(&now, SIGTTIN) == 1 || sigismember(&now, SIGTTOU) == 1;
	return (sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU) && sigismember(&now, SIGCONT) == 1;
}

// forward passes on a signal that reached psb, unless the program has got it, too: psb, this process and the program share a process group, so
// what a terminal or a kill(2) of the whole group sends arrives here as well, where it stays blocked and can be asked for. The kernel
// signals a group one by one: hence the moment of waiting. Two of a kind that came before this process ran are one here, and would leave the second
// to be passed on though the program has both: what psb knows to be the terminal's (whole) is never passed on.
static void forward(pid_t child, int sig, bool whole) {
	const struct timespec moment = {0, 2 * 1000 * 1000};
	sigset_t one;
	sigemptyset(&one);
	sigaddset(&one, sig);
	int got;
	do got = sigtimedwait(&one, NULL, &moment); while (got < 0 && errno == EINTR);
	if (got != sig && !whole && !undone(sig)) (void)kill(child, sig);
}

static _Noreturn void serve(struct spec *s, pid_t child, int chld) {
	struct pollfd p[3] = {{FD_CONTROL, POLLIN, 0}, {chld, POLLIN, 0}, {LIFE, 0, 0}};
	for (;;) {
		if (poll(p, 3, -1) < 0) {
			if (errno == EINTR) continue;
			_exit(1);
		}
		if (p[2].revents) { // the keeper is gone
			if (!(s->flags & BOX_PID)) psb_kill_children(CHILDREN, child);
			_exit(1);
		}
		if (p[1].revents) {
			struct signalfd_siginfo info;
			(void)!read(chld, &info, sizeof info);
			reap(child, s->flags & BOX_PID);
		}
		if (p[0].revents) {
			struct message m;
			if (!psb_receive(FD_CONTROL, &m)) _exit(1); // psb is gone, or wants the end
			if (m.kind == M_SIGNAL && m.a > 0 && m.a <= 64) forward(child, m.a, m.b != 0);
			if ((m.kind == M_PAUSE || m.kind == M_RESUME) && s->flags & BOX_PID) pause_all(m.kind == M_PAUSE, m.kind == M_PAUSE || m.a);
			if (m.kind == M_MAKE && (m.a == AF_INET || m.a == AF_INET6) && (m.b == SOCK_STREAM || m.b == SOCK_DGRAM)) make(m.a, m.b);
		}
	}
}

static void move_to(int fd, int number) {
	if (dup2(fd, number) != number) psb_fail(FD_CONTROL, "namespaces", "dup2");
}

void psb_reaper(struct spec *s, int life) {
	char byte;
	sigset_t only;
	int gate[2], children = -1;
	long ignored;
	psb_die_with_keeper(s, life);
	if (read(life, &byte, 1) != 1) _exit(1); // the keeper said why
	psb_join_v1(s);
	if (s->hostname.n && sethostname(s->hostname.s, s->hostname.n) != 0) psb_fail(FD_CONTROL, "namespaces", "sethostname");
	if (s->flags & BOX_LOOPBACK) loopback();
	if (!(s->flags & BOX_PID)) {
		if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) psb_fail(FD_CONTROL, "namespaces", "prctl(PR_SET_CHILD_SUBREAPER)");
		if ((children = psb_children()) < 0) psb_fail(FD_CONTROL, "namespaces", "open /proc/self/task/%d/children", (int)getpid());
	}
	psb_time(T_FIRST);
	if (s->nops) psb_build_root(s);
	if (s->upper) psb_hand_upper();
	if (read(life, &byte, 1) != 1) _exit(1); // it is in its groups now
	if (s->flags & BOX_CGROUP && unshare(CLONE_NEWCGROUP) != 0) psb_fail(FD_CONTROL, "namespaces", "unshare(CLONE_NEWCGROUP)");
	psb_time(T_ROOT);
	psb_walls(s, life);
	psb_time(T_WALLS);
	// The program waits at the gate until the reaper wears all it ever will: nothing in the box meets a half-dressed pid 1.
	if (pipe2(gate, O_CLOEXEC) != 0) psb_fail(FD_CONTROL, "namespaces", "pipe2");
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) psb_fail(FD_CONTROL, "namespaces", "prctl(PR_SET_DUMPABLE)");
	pid_t child = psb_clone(0, NULL);
	if (child < 0) psb_fail(FD_CONTROL, "namespaces", "fork the program");
	if (child == 0) {
		close(gate[1]);
		psb_program(s, gate[0]);
	}
	// 0, 1, 2 are open here, all three, so none of the others has one of these numbers.
	move_to(gate[1], GATE);
	move_to(life, LIFE);
	if (children >= 0) move_to(children, CHILDREN); else close(CHILDREN);
	close(3);
	if (syscall(SYS_close_range, FD_START, ~0U, 0) != 0) psb_fail(FD_CONTROL, "namespaces", "close_range");
	sigemptyset(&only);
	sigaddset(&only, SIGCHLD);
	int chld = signalfd(-1, &only, SFD_CLOEXEC | SFD_NONBLOCK);
	if (chld < 0) psb_fail(FD_CONTROL, "namespaces", "signalfd");
	if (s->reaper.n && !psb_install_filter(&s->reaper, 0, &ignored)) psb_fail(FD_CONTROL, "seccomp", "install the reaper's filter");
	if (write(GATE, "g", 1) != 1) _exit(1);
	close(GATE);
	serve(s, child, chld);
}
