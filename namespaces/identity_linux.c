// Does to the process: reads what it is: binary, kernel, ids, limits, working folder, environment; keeps a digest of it, no values.
// Undone: nothing to undo.
// Preconditions: none.
// Called by: prepared_linux.c, in the constructor; prepared_linux.go through it.
// Proved by: TestPreparedFollowsTheCaller.
#define _GNU_SOURCE
#include "prepared_linux.h"
#include <linux/capability.h>
#include <linux/landlock.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

extern char **environ;

#define ADD(v) psb_digest_add(d, &(v), sizeof(v))

static bool add_file(struct digest *d, const char *name) {
	struct stat st;
	if (stat(name, &st) != 0) return false;
	ADD(st.st_dev); ADD(st.st_ino); ADD(st.st_size); ADD(st.st_mtim); ADD(st.st_ctim);
	return true;
}

static bool add_namespace(struct digest *d, const char *name) {
	struct stat st;
	if (stat(name, &st) != 0) return false;
	ADD(st.st_dev); ADD(st.st_ino);
	return true;
}

void psb_identity_word(struct digest *d, const char *word) { psb_digest_add(d, word, strlen(word) + 1); }

static bool add_groups(struct digest *d) {
	gid_t list[256];
	int n = getgroups(256, list);
	if (n < 0) return false;
	ADD(n);
	psb_digest_add(d, list, (size_t)n * sizeof *list);
	return true;
}

static bool add_limits(struct digest *d) {
	for (int i = 0; i < RLIMIT_NLIMITS; i++) {
		struct rlimit l;
		if (getrlimit((__rlimit_resource_t)i, &l) != 0) return false;
		ADD(l);
	}
	return true;
}

static bool add_privileges(struct digest *d) {
	struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct caps[2];
	uid_t ids[4] = {getuid(), geteuid(), (uid_t)getgid(), (uid_t)getegid()};
	int bits[3] = {prctl(PR_GET_SECCOMP, 0, 0, 0, 0), prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), prctl(PR_GET_SECUREBITS, 0, 0, 0, 0)};
	memset(caps, 0, sizeof caps);
	if (syscall(SYS_capget, &head, caps) != 0) return false;
	ADD(caps); ADD(ids); ADD(bits);
	return add_groups(d);
}

static bool add_kernel(struct digest *d) {
	struct utsname u;
	struct sysinfo info;
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION), errata = syscall(SYS_landlock_create_ruleset, NULL, 0, 1U << 1);
	if (uname(&u) != 0 || sysinfo(&info) != 0) return false;
	psb_identity_word(d, u.release); psb_identity_word(d, u.version); psb_identity_word(d, u.machine); psb_identity_word(d, u.nodename);
	ADD(info.totalram); ADD(info.mem_unit); ADD(abi); ADD(errata);
	return true;
}

// passing: what a shell sets anew for each command; Go keeps no launch that rests on one of them, see passing in prepared_linux.go.
static bool passing(const char *kv) { return strncmp(kv, "_=", 2) == 0 || strncmp(kv, "OLDPWD=", 7) == 0 || strncmp(kv, "SHLVL=", 6) == 0; }

bool psb_identity(struct digest *d) {
	char here[4096];
	uint32_t version = PREPARED_VERSION;
	psb_digest_start(d);
	ADD(version);
	if (!add_file(d, "/proc/self/exe") || !add_namespace(d, "/proc/self/ns/user") || !add_kernel(d) || !add_privileges(d) || !add_limits(d)) return false;
	if (!getcwd(here, sizeof here)) return false;
	psb_identity_word(d, here);
	uint32_t n = 0;
	for (char **e = environ; *e; e++) if (!passing(*e)) { psb_identity_word(d, *e); n++; }
	ADD(n);
	return true;
}
