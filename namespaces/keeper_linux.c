// Does to the process: becomes the keeper: makes the box's first process with clone(2), writes its id maps and groups, and outlives psb
// long enough to end the box.
// Undone: not; it ends with the box.
// Preconditions: all signals are blocked; single-threaded; descriptors 3.. are the stages'.
// Called by: entry_linux.c.
// Proved by: TestIDMaps, TestKillAnyStage, TestCgroupJoined.
#define _GNU_SOURCE
#include "stage2_linux.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef CLONE_NEWCGROUP
#define CLONE_NEWCGROUP 0x02000000
#endif
#ifndef CLONE_PIDFD
#define CLONE_PIDFD 0x1000
#endif

static pid_t box_clone(unsigned long flags, int *pidfd) {
	// The raw call: a fork-like child on a copy of this stack. Single-threaded, so nothing of the C library needs telling.
#if defined(__aarch64__)
	return (pid_t)syscall(SYS_clone, flags | SIGCHLD, 0, pidfd, 0, 0);
#else
	return (pid_t)syscall(SYS_clone, flags | SIGCHLD, 0, pidfd, 0, 0);
#endif
}

static void put(const char *stage, const char *file, const char *words) {
	int fd = open(file, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	size_t n = strlen(words);
	if (fd < 0) psb_fail(FD_CONTROL, stage, "open %s", file);
	if (write(fd, words, n) != (ssize_t)n) psb_fail(FD_CONTROL, stage, "write %s", file);
	close(fd);
}

static void write_map(pid_t pid, const char *map, uint32_t in, uint32_t out) {
	char file[64], words[64];
	snprintf(file, sizeof file, "/proc/%d/%s", pid, map);
	snprintf(words, sizeof words, "%u %u 1\n", in, out);
	put("namespaces", file, words);
}

static void id_maps(pid_t pid, uint32_t uid, uint32_t host_uid, uint32_t gid, uint32_t host_gid) {
	char file[64];
	snprintf(file, sizeof file, "/proc/%d/setgroups", pid);
	put("namespaces", file, "deny");
	write_map(pid, "uid_map", uid, host_uid);
	write_map(pid, "gid_map", gid, host_gid);
}

// map_namespace makes the user namespace that an id-mapped mount takes its map from: on-disk owner → the box's kernel ids.
static int map_namespace(struct spec *s, uint32_t uid, uint32_t gid) {
	int hold[2], pidfd = -1;
	char file[64], byte;
	if (pipe2(hold, O_CLOEXEC) != 0) psb_fail(FD_CONTROL, "mounts", "pipe");
	pid_t pid = box_clone(CLONE_NEWUSER | CLONE_PIDFD, &pidfd);
	if (pid < 0) psb_fail(FD_CONTROL, "mounts", "clone a user namespace for id-mapped mounts");
	if (pid == 0) {
		close(hold[1]);
		(void)!read(hold[0], &byte, 1);
		_exit(0);
	}
	close(hold[0]);
	id_maps(pid, uid, s->host_uid, gid, s->host_gid);
	snprintf(file, sizeof file, "/proc/%d/ns/user", pid);
	int ns = open(file, O_RDONLY | O_CLOEXEC);
	if (ns < 0) psb_fail(FD_CONTROL, "mounts", "open %s", file);
	close(hold[1]);
	close(pidfd);
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

// kill_children ends everything below this process, where no pid namespace does it: what is killed hands its children over to this
// subreaper, until there is nobody left.
static void kill_children(void) {
	char file[64], buf[4096];
	snprintf(file, sizeof file, "/proc/self/task/%d/children", (int)getpid());
	for (int round = 0; round < 10000; round++) {
		int fd = open(file, O_RDONLY | O_CLOEXEC);
		ssize_t n = fd < 0 ? -1 : read(fd, buf, sizeof buf - 1);
		if (fd >= 0) close(fd);
		if (n > 0) {
			buf[n] = 0;
			for (char *p = buf, *end; *p; p = end) {
				long pid = strtol(p, &end, 10);
				if (end == p) break;
				if (pid > 1) kill((pid_t)pid, SIGKILL);
			}
		}
		pid_t got;
		do got = waitpid(-1, NULL, __WALL | (n > 0 ? 0 : WNOHANG)); while (got < 0 && errno == EINTR);
		if (got < 0 && errno == ECHILD) return;
		while (waitpid(-1, NULL, __WALL | WNOHANG) > 0) { }
	}
}

static void remove_groups(struct spec *s) {
	struct timespec nap = {0, 5 * 1000 * 1000};
	for (uint32_t i = 0; i < s->cgroup_dirs.n; i++)
		for (int tries = 0; tries < 200 && rmdir(s->cgroup_dirs.v[i]) != 0 && errno == EBUSY; tries++) nanosleep(&nap, NULL);
}

// serve waits for the box's end or psb's, whichever comes first. The control end is never read here: only its hang-up matters.
static bool serve(struct spec *s, pid_t pid, int pidfd, int sync) {
	struct pollfd p[3] = {{FD_CONTROL, 0, 0}, {pidfd, POLLIN, 0}, {sync, POLLIN, 0}};
	for (;;) {
		if (poll(p, 3, -1) < 0) {
			if (errno == EINTR) continue;
			return true;
		}
		if (p[0].revents) return true; // POLLHUP: psb is gone
		if (p[1].revents) return false;
		if (p[2].revents) {
			char byte;
			if (read(sync, &byte, 1) != 1) { p[2].fd = -1; continue; }
			id_maps(pid, s->uid, s->host_uid, s->gid, s->host_gid);
			if (write(sync, &byte, 1) != 1) return false;
		}
	}
}

void psb_keeper(struct spec *s) {
	unsigned long flags = CLONE_PIDFD;
	int sync[2], pidfd = -1, status = 0;
	char byte = 1;
	if (s->flags & BOX_USER && !(s->flags & BOX_LATE_USER)) flags |= CLONE_NEWUSER;
	if (s->flags & BOX_MOUNT) flags |= CLONE_NEWNS;
	if (s->flags & BOX_PID) flags |= CLONE_NEWPID;
	if (s->flags & BOX_NET) flags |= CLONE_NEWNET;
	if (s->flags & BOX_IPC) flags |= CLONE_NEWIPC;
	if (s->flags & BOX_UTS) flags |= CLONE_NEWUTS;
	if (prctl(PR_SET_DUMPABLE, 1) != 0) psb_fail(FD_CONTROL, "namespaces", "prctl(PR_SET_DUMPABLE)");
	if (!(s->flags & BOX_PID) && prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) psb_fail(FD_CONTROL, "namespaces", "prctl(PR_SET_CHILD_SUBREAPER)");
	map_namespaces(s);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sync) != 0) psb_fail(FD_CONTROL, "namespaces", "socketpair");
	pid_t pid = box_clone(flags, &pidfd);
	if (pid < 0) psb_fail(FD_CONTROL, "namespaces", "clone");
	if (pid == 0) {
		close(sync[0]);
		psb_reaper(s, sync[1]);
	}
	// The first process waits for a byte: it is in its groups and has its ids before it does anything.
	close(sync[1]);
	close(FD_START);
	if (s->flags & BOX_LANDLOCK) close(FD_RULESET);
	for (uint32_t i = 0; i < s->cgroup_procs.n; i++) {
		char words[32];
		snprintf(words, sizeof words, "%d", pid);
		put("cgroup", s->cgroup_procs.v[i], words);
	}
	if (flags & CLONE_NEWUSER) id_maps(pid, s->uid, s->host_uid, s->gid, s->host_gid);
	if (write(sync[0], &byte, 1) != 1) psb_fail(FD_CONTROL, "namespaces", "the first process of the box ended early");
	bool alone = serve(s, pid, pidfd, sync[0]);
	kill(pid, SIGKILL); // not reaped yet, so the number is still its own
	while (waitpid(pid, &status, __WALL) < 0 && errno == EINTR) { }
	if (!(s->flags & BOX_PID)) kill_children();
	if (alone) remove_groups(s);
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}
