// Does to the process: gives up limits, ids, capabilities and new privileges, restricts it with Landlock, installs seccomp filters.
// Undone: not; every step holds for the process and all that descend from it.
// Preconditions: mounts are done; single-threaded.
// Called by: reaper_linux.c, in plan.Order.
// Proved by: TestWalls, TestCapabilitiesGone, TestLandlockRules, TestFilter*.
#define _GNU_SOURCE
#include "stage2_linux.h"
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

static void limits(struct spec *s) {
	for (uint32_t i = 0; i < s->nrlimits; i++) {
		struct rlimit now, want = {s->rlimits[i].value, s->rlimits[i].value};
		int r = (int)s->rlimits[i].resource;
		if (getrlimit(r, &now) != 0) psb_fail(FD_CONTROL, "rlimits", "getrlimit %d", r);
		if (now.rlim_max < want.rlim_max) want.rlim_max = now.rlim_max; // the caller's own limit is lower: it stays
		if (want.rlim_cur > want.rlim_max) want.rlim_cur = want.rlim_max;
		if (setrlimit(r, &want) != 0) psb_fail(FD_CONTROL, "rlimits", "setrlimit %d", r);
	}
}

static void late_user(struct spec *s, int sync) {
	char byte = 2;
	(void)s;
	if (unshare(CLONE_NEWUSER) != 0) psb_fail(FD_CONTROL, "capabilities", "unshare(CLONE_NEWUSER)");
	if (write(sync, &byte, 1) != 1 || read(sync, &byte, 1) != 1) psb_fail(FD_CONTROL, "capabilities", "the keeper did not write the id maps");
}

static void privileges(struct spec *s, int sync) {
	bool root = geteuid() == 0 && !(s->flags & BOX_USER && !(s->flags & BOX_LATE_USER));
	if (root && setgroups(0, NULL) != 0) psb_fail(FD_CONTROL, "capabilities", "setgroups");
	if (s->flags & BOX_LATE_USER) late_user(s, sync);
	bool able = s->flags & BOX_USER || root; // without either there is nothing to give up but what the caller had
	for (int cap = 0; able && cap < 64; cap++)
		if (prctl(PR_CAPBSET_READ, cap, 0, 0, 0) == 1 && prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) != 0) psb_fail(FD_CONTROL, "capabilities", "drop %d from the bounding set", cap);
	if (able && prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |
			SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED, 0, 0, 0) != 0)
		psb_fail(FD_CONTROL, "capabilities", "lock securebits");
	if (able && (setresgid(s->gid, s->gid, s->gid) != 0 || setresuid(s->uid, s->uid, s->uid) != 0)) psb_fail(FD_CONTROL, "capabilities", "become uid %u gid %u", s->uid, s->gid);
	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); // empties by itself with the sets below; kept for kernels that say EINVAL
	struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct none[2] = {{0, 0, 0}, {0, 0, 0}}, got[2];
	if (syscall(SYS_capset, &head, none) != 0 || syscall(SYS_capget, &head, got) != 0) psb_fail(FD_CONTROL, "capabilities", "capset");
	if (got[0].effective | got[0].permitted | got[0].inheritable | got[1].effective | got[1].permitted | got[1].inheritable) {
		errno = EPERM;
		psb_fail(FD_CONTROL, "capabilities", "some are left");
	}
	// A change of ids cleared both: the reaper dies with the keeper, and nothing reads its memory.
	if (prctl(PR_SET_PDEATHSIG, 9, 0, 0, 0) != 0) psb_fail(FD_CONTROL, "capabilities", "prctl(PR_SET_PDEATHSIG)");
}

static void files(struct spec *s) {
	for (uint32_t i = 0; i < s->nrules; i++) {
		struct landlock_path_beneath_attr rule = {.allowed_access = s->rules[i].access};
		rule.parent_fd = open(s->rules[i].path.s, O_PATH | O_CLOEXEC | O_NOFOLLOW);
		if (rule.parent_fd < 0) psb_fail(FD_CONTROL, "landlock", "open %s", s->rules[i].path.s);
		if (syscall(SYS_landlock_add_rule, FD_RULESET, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0) psb_fail(FD_CONTROL, "landlock", "add rule on %s", s->rules[i].path.s);
		close(rule.parent_fd);
	}
	if (syscall(SYS_landlock_restrict_self, FD_RULESET, 0) != 0) psb_fail(FD_CONTROL, "landlock", "landlock_restrict_self");
	close(FD_RULESET);
}

// psb_walls: rlimits, capabilities and ids, no_new_privs, landlock. The filter comes last of all, on each side of the fork.
void psb_walls(struct spec *s, int sync) {
	limits(s);
	privileges(s, sync);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) psb_fail(FD_CONTROL, "no-new-privs", "prctl");
	if (s->flags & BOX_LANDLOCK) files(s);
}

bool psb_install_filter(const struct text *program, unsigned flags, long *result) {
	struct sock_fprog prog = {.len = (unsigned short)(program->n / 8), .filter = (struct sock_filter *)(uintptr_t)program->s};
	*result = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &prog);
	return *result >= 0;
}

// psb_filter_program installs the program's filter; with a listener, its number goes to psb, which takes it with pidfd_getfd(2) before
// the program's own copy is closed. Errors go to the start end: the control end is closed on this side.
void psb_filter_program(struct spec *s) {
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
