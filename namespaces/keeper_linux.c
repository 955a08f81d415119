// Does to the process: becomes the keeper: makes the box's first process with clone(2), writes its id maps and groups, and outlives psb
// long enough to end the box.
// Undone: not; it ends with the box.
// Preconditions: all signals are blocked, SIGCHLD is not ignored; single-threaded; descriptors 3.. are the stages'.
// Called by: entry_linux.c.
// Proved by: TestIDMaps, TestKillAnyStage, TestCgroupJoined, TestAwait, TestOutputEnds.
#define _GNU_SOURCE
#include "stage2_linux.h"
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef CLONE_PIDFD
#define CLONE_PIDFD 0x1000
#endif

static void write_map(pid_t pid, const char *map, uint32_t in, uint32_t out) {
	char file[64], words[64];
	snprintf(file, sizeof file, "/proc/%d/%s", pid, map);
	snprintf(words, sizeof words, "%u %u 1\n", in, out);
	psb_put("namespaces", file, words);
}

static void id_maps(pid_t pid, uint32_t uid, uint32_t host_uid, uint32_t gid, uint32_t host_gid) {
	char file[64];
	snprintf(file, sizeof file, "/proc/%d/setgroups", pid);
	psb_put("namespaces", file, "deny");
	write_map(pid, "uid_map", uid, host_uid);
	write_map(pid, "gid_map", gid, host_gid);
}

// no_groups: root's supplementary groups would go along to the unprivileged id. Done here, as the box's own user namespace denies it; where
// psb's denies it, too, nobody could ever leave them.
static void no_groups(void) {
	char said[8] = "";
	if (geteuid() != 0 || setgroups(0, NULL) == 0) return;
	int why = errno, fd = open("/proc/self/setgroups", O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && read(fd, said, 4) == 4 && memcmp(said, "deny", 4) == 0) {
		close(fd);
		return;
	}
	errno = why;
	psb_fail(FD_CONTROL, "capabilities", "setgroups");
}

static pid_t keeper;

static int stay(void *none) {
	(void)none;
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != keeper) return 1;
	for (;;) pause();
	return 0;
}

// map_namespace makes the user namespace that an id-mapped mount takes its map from: on-disk owner → the box's kernel ids.
static int map_namespace(struct spec *s, uint32_t uid, uint32_t gid) {
	static char stack[16384] __attribute__((aligned(16)));
	char file[64];
	keeper = getpid();
	// It shares this memory and runs nothing but pause(2): a copy would cost more than all the rest of it.
	pid_t pid = clone(stay, stack + sizeof stack, CLONE_NEWUSER | CLONE_VM | SIGCHLD, NULL);
	if (pid < 0) psb_fail(FD_CONTROL, "mounts", "clone a user namespace for id-mapped mounts");
	id_maps(pid, uid, s->host_uid, gid, s->host_gid);
	snprintf(file, sizeof file, "/proc/%d/ns/user", pid);
	int ns = open(file, O_RDONLY | O_CLOEXEC);
	if (ns < 0) psb_fail(FD_CONTROL, "mounts", "open %s", file);
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) { }
	return ns;
}

static void map_namespaces(struct spec *s) {
	for (uint32_t i = 0; i < s->nops; i++) {
		struct op *o = &s->ops[i];
		if (!(o->flags & ACT_IDMAP)) continue;
		for (uint32_t j = 0; j < i && o->userns < 0; j++) {
			struct op *q = &s->ops[j];
			if (q->userns >= 0 && q->map_uid == o->map_uid && q->map_gid == o->map_gid) o->userns = q->userns;
		}
		if (o->userns < 0) o->userns = map_namespace(s, o->map_uid, o->map_gid);
	}
}

static void remove_groups(struct spec *s) {
	struct timespec nap = {0, 5 * 1000 * 1000};
	for (uint32_t i = 0; i < s->cgroup_dirs.n; i++)
		for (int tries = 0; tries < 200 && rmdir(s->cgroup_dirs.v[i]) != 0 && errno == EBUSY; tries++) nanosleep(&nap, NULL);
}

// settle decides who removes the groups. A psb that is being killed closes its end last of all, after the kernel has killed what it traced,
// so that the box may be gone first: psb has to say that it lives (a program's end, answered) or that it wanted the end (half-closed).
static void settle(struct spec *s) {
	struct pollfd p = {FD_CONTROL, POLLIN | POLLRDHUP, 0};
	while (s->cgroup_dirs.n > 0 && poll(&p, 1, 2000) > 0) {
		struct message m;
		if (p.revents & (POLLHUP | POLLERR)) {
			remove_groups(s);
			return;
		}
		if (!(p.revents & POLLIN) || !psb_receive(FD_CONTROL, &m) || m.kind == M_ALIVE) return;
	}
}

// serve waits for the box's end or psb's, whichever comes first. The control end is never read here: only its end matters.
static void serve(struct spec *s, pid_t pid, int pidfd, int life) {
	struct pollfd p[3] = {{FD_CONTROL, POLLRDHUP, 0}, {pidfd, POLLIN, 0}, {life, POLLIN, 0}};
	bool asked = !(s->flags & BOX_LATE_USER);
	for (;;) {
		if (poll(p, 3, -1) < 0) {
			if (errno == EINTR) continue;
			return;
		}
		if (p[0].revents || p[1].revents) return;
		if (p[2].revents) {
			char byte;
			if (read(life, &byte, 1) != 1 || asked) { p[2].fd = -1; continue; }
			asked = true;
			id_maps(pid, s->uid, s->host_uid, s->gid, s->host_gid);
			if (write(life, &byte, 1) != 1) return;
		}
	}
}

// await: psb makes the groups meanwhile; from here on they are removed whenever it dies. Box.Kill is heard here, too.
static void await(struct spec *s) {
	struct pollfd p[2] = {{FD_CONTROL, POLLRDHUP, 0}, {FD_START, POLLIN, 0}};
	struct message go = {0};
	while (poll(p, 2, -1) < 0 && errno == EINTR) { }
	if (!p[0].revents && psb_receive(FD_START, &go) && go.kind == M_GO) return;
	settle(s);
	_exit(125);
}

static unsigned long namespaces(struct spec *s) {
	unsigned long flags = 0;
	if (s->flags & BOX_USER && !(s->flags & BOX_LATE_USER)) flags |= CLONE_NEWUSER;
	if (s->flags & BOX_MOUNT) flags |= CLONE_NEWNS;
	if (s->flags & BOX_PID) flags |= CLONE_NEWPID;
	if (s->flags & BOX_NET) flags |= CLONE_NEWNET;
	if (s->flags & BOX_IPC) flags |= CLONE_NEWIPC;
	if (s->flags & BOX_UTS) flags |= CLONE_NEWUTS;
	return flags; // the cgroup namespace is entered by the reaper, once it is in its groups
}

void psb_keeper(struct spec *s) {
	unsigned long flags = namespaces(s);
	int life[2], pidfd = -1, status = 0, children = -1;
	char byte = 1;
	bool joined = false;
	struct message box = {.kind = M_BOX};
	psb_time(T_KEEPER);
	// A binary that its user may not read would make /proc/self root's, and the id maps could not be written.
	if (prctl(PR_SET_DUMPABLE, 1) != 0) psb_fail(FD_CONTROL, "namespaces", "prctl(PR_SET_DUMPABLE)");
	if (!(s->flags & BOX_PID)) {
		if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) psb_fail(FD_CONTROL, "namespaces", "prctl(PR_SET_CHILD_SUBREAPER)");
		if ((children = psb_children()) < 0) psb_fail(FD_CONTROL, "namespaces", "open /proc/self/task/%d/children", (int)getpid());
	}
	no_groups();
	map_namespaces(s);
	if (s->flags & BOX_AWAIT) await(s);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, life) != 0) psb_fail(FD_CONTROL, "namespaces", "socketpair");
	psb_time(T_CLONE);
	pid_t pid = psb_clone_into(s, flags | CLONE_PIDFD, &pidfd, &joined);
	if (pid < 0) psb_fail(FD_CONTROL, "namespaces", "clone");
	if (pid == 0) {
		close(life[0]);
		psb_reaper(s, life[1]);
	}
	// The first process waits for a byte until it has its ids, and for another before it gives anything up, until it is in its groups: a write to
	// cgroup.procs may wait for every processor (synchronize_rcu), and meanwhile it builds the root.
	close(life[1]);
	close(FD_START);
	if (s->flags & BOX_LANDLOCK) close(FD_RULESET);
	for (uint32_t i = 0; i < s->nops; i++) if (s->ops[i].userns >= 0) close(s->ops[i].userns); // one may stand there twice
	// A kill or stop of psb's process group, in which the box stays, must leave the one that cleans up. A session of its own, not only a group:
	// a parent in the same session would tell the kernel that somebody does job control for the box.
	if (setsid() < 0) psb_fail(FD_CONTROL, "namespaces", "setsid");
	for (int fd = 0; fd < 3; fd++) close(fd); // whoever reads the program's output must see its end
	if (!psb_send_descriptors(FD_CONTROL, &box, &pidfd, 1)) _exit(125); // psb is gone
	if (flags & CLONE_NEWUSER) id_maps(pid, s->uid, s->host_uid, s->gid, s->host_gid);
	if (send(life[0], &byte, 1, MSG_NOSIGNAL) == 1) { // else it ended early and said why
		if (!joined) psb_join_v2(s, pid);
		if (send(life[0], &byte, 1, MSG_NOSIGNAL) == 1) serve(s, pid, pidfd, life[0]);
	}
	kill(pid, SIGKILL); // not reaped yet, so the number is still its own
	while (waitpid(pid, &status, __WALL) < 0 && errno == EINTR) { }
	if (!(s->flags & BOX_PID)) psb_kill_children(children, -1);
	settle(s);
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}
