// Does to the process: gives up limits, ids, capabilities and new privileges, restricts it with Landlock.
// Undone: not; every step holds for the process and all that descend from it.
// Preconditions: mounts are done; single-threaded; life's other end is the keeper, which writes the id maps when asked.
// Called by: reaper_linux.c, in plan.Order. The filter comes last of all, on each side of the fork.
// Proved by: TestCapabilitiesGone, TestRlimits, TestLandlockRules, TestIDMaps.
#define _GNU_SOURCE
#include "stage2_linux.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <linux/securebits.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static void limits(struct spec *s) {
	for (uint32_t i = 0; i < s->nrlimits; i++) {
		struct rlimit now, want = {s->rlimits[i].value, s->rlimits[i].value};
		int r = (int)s->rlimits[i].resource;
		if (r == RLIMIT_CPU) want.rlim_max++; // SIGXCPU first: a program may end well, and psb can tell why it ended
		if (getrlimit(r, &now) != 0) psb_fail(FD_CONTROL, "rlimits", "getrlimit %d", r);
		if (now.rlim_max < want.rlim_max) want.rlim_max = now.rlim_max; // the caller's own limit is lower: it stays
		if (want.rlim_cur > want.rlim_max) want.rlim_cur = want.rlim_max;
		if (setrlimit(r, &want) != 0) psb_fail(FD_CONTROL, "rlimits", "setrlimit %d", r);
	}
}

static void late_user(int life) {
	char byte = 2;
	if (unshare(CLONE_NEWUSER) != 0) psb_fail(FD_CONTROL, "capabilities", "unshare(CLONE_NEWUSER)");
	if (write(life, &byte, 1) != 1 || read(life, &byte, 1) != 1) psb_fail(FD_CONTROL, "capabilities", "the keeper did not write the id maps");
}

static void privileges(struct spec *s, int life) {
	// An ordinary user without a user namespace has nothing to give up.
	bool able = s->flags & BOX_USER || geteuid() == 0;
	if (s->flags & BOX_LATE_USER) late_user(life);
	for (int cap = 0; able && cap < 64; cap++) {
		if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == 0) continue;
		if (errno == EINVAL && cap > CAP_AUDIT_READ) break; // the kernel knows no more
		psb_fail(FD_CONTROL, "capabilities", "drop %d from the bounding set", cap);
	}
	int bits = prctl(PR_GET_SECUREBITS, 0, 0, 0, 0); // added to: what a container locked cannot be taken back
	if (bits < 0) psb_fail(FD_CONTROL, "capabilities", "prctl(PR_GET_SECUREBITS)");
	bits |= SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;
	if (able && prctl(PR_SET_SECUREBITS, bits, 0, 0, 0) != 0) psb_fail(FD_CONTROL, "capabilities", "lock securebits");
	if (able && (setresgid(s->gid, s->gid, s->gid) != 0 || setresuid(s->uid, s->uid, s->uid) != 0)) psb_fail(FD_CONTROL, "capabilities", "become uid %u gid %u", s->uid, s->gid);
	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); // empties by itself with the sets below; kept for kernels that say EINVAL
	struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct none[2] = {{0, 0, 0}, {0, 0, 0}}, got[2];
	if (syscall(SYS_capset, &head, none) != 0 || syscall(SYS_capget, &head, got) != 0) psb_fail(FD_CONTROL, "capabilities", "capset");
	if (got[0].effective | got[0].permitted | got[0].inheritable | got[1].effective | got[1].permitted | got[1].inheritable) {
		errno = EPERM;
		psb_fail(FD_CONTROL, "capabilities", "some are left");
	}
	psb_die_with_keeper(s, life); // the change of ids cleared it
}

// rules adds the rules on objects of the box's root, while every folder can still be walked through.
static void rules(struct spec *s) {
	for (uint32_t i = 0; i < s->nrules; i++) {
		struct landlock_path_beneath_attr rule = {.allowed_access = s->rules[i].access};
		rule.parent_fd = psb_open(-1, s->rules[i].path.s, O_PATH);
		if (rule.parent_fd < 0) psb_fail(FD_CONTROL, "landlock", "open %s", s->rules[i].path.s);
		if (syscall(SYS_landlock_add_rule, FD_RULESET, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0) psb_fail(FD_CONTROL, "landlock", "add rule on %s", s->rules[i].path.s);
		psb_close(rule.parent_fd);
	}
	psb_closed();
}

// psb_walls: rlimits, capabilities and ids, no_new_privs, landlock.
void psb_walls(struct spec *s, int life) {
	limits(s);
	rules(s);
	privileges(s, life);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) psb_fail(FD_CONTROL, "no-new-privs", "prctl");
	if (!(s->flags & BOX_LANDLOCK)) return;
	if (syscall(SYS_landlock_restrict_self, FD_RULESET, 0) != 0) psb_fail(FD_CONTROL, "landlock", "landlock_restrict_self");
	close(FD_RULESET);
}
