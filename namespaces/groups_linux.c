// Does to the process: brings it, or the child it makes, into the box's control groups.
// Undone: not; a process stays in its groups until it ends.
// Preconditions: the groups are there; psb_join_v1: single-threaded, the host's /sys/fs/cgroup is still in sight.
// Called by: keeper_linux.c, reaper_linux.c.
// Proved by: TestCgroupJoined, TestAwait, TestGroupEntered.
//
// Writing a process id into cgroup.procs takes a lock that readers never pay for and writers pay with a grace period of RCU: 3 to 30 ms, more
// than all the rest of a launch. Two ways do without: clone3(2) straight into a v2 group, and a thread that moves itself by a v1 tasks file.
#define _GNU_SOURCE
#include "stage2_linux.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <stdio.h>

static const char v1[] = "/tasks", v2[] = "/cgroup.procs";

static bool ends(const char *path, const char *with) {
	size_t n = strlen(path), m = strlen(with);
	return n > m && memcmp(path + n - m, with, m) == 0;
}

void psb_put(const char *stage, const char *file, const char *words) {
	int fd = open(file, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	size_t n = strlen(words);
	if (fd < 0) psb_fail(FD_CONTROL, stage, "open %s", file);
	if (write(fd, words, n) != (ssize_t)n) psb_fail(FD_CONTROL, stage, "write %s", file);
	close(fd);
}

void psb_join_v1(struct spec *s) {
	for (uint32_t i = 0; i < s->cgroup_procs.n; i++)
		if (ends(s->cgroup_procs.v[i], v1)) psb_put("cgroup", s->cgroup_procs.v[i], "0");
}

void psb_join_v2(struct spec *s, pid_t pid) {
	char words[32];
	snprintf(words, sizeof words, "%d", pid);
	for (uint32_t i = 0; i < s->cgroup_procs.n; i++)
		if (!ends(s->cgroup_procs.v[i], v1)) psb_put("cgroup", s->cgroup_procs.v[i], words);
}

// only_v2 opens the one v2 group's folder; -1 where there is none: a host has at most one v2 hierarchy.
static int only_v2(struct spec *s) {
	char folder[4096];
	const char *file = NULL;
	for (uint32_t i = 0; i < s->cgroup_procs.n; i++)
		if (ends(s->cgroup_procs.v[i], v2)) {
			if (file) return -1;
			file = s->cgroup_procs.v[i];
		}
	if (!file || strlen(file) >= sizeof folder) return -1;
	strcpy(folder, file);
	folder[strlen(file) - strlen(v2)] = 0;
	return open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

// psb_clone_into: what keeps clone3 from it (an older kernel, a filter around psb, a group that takes nobody) shows again, with words, in
// psb_join_v2.
pid_t psb_clone_into(struct spec *s, unsigned long flags, int *pidfd, bool *joined) {
	const uint64_t into_cgroup = 0x200000000; // CLONE_INTO_CGROUP
	struct { uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid, set_tid_size, cgroup; } a = {
		.flags = flags | into_cgroup, .pidfd = (uintptr_t)pidfd, .exit_signal = SIGCHLD};
	int group = only_v2(s);
	*joined = false;
	if (group >= 0) {
		a.cgroup = (uint64_t)group;
		pid_t pid = (pid_t)syscall(SYS_clone3, &a, sizeof a);
		close(group);
		if (pid >= 0) {
			*joined = true;
			return pid;
		}
	}
	return psb_clone(flags, pidfd);
}
