// Does to the process: mounts below the new root, in its own mount namespace.
// Undone: not; the mounts end with the namespace.
// Preconditions: as in root_linux.c, whose acts these are. Linux 5.12.
// Called by: root_linux.c.
// Proved by: TestOps, TestReadOnlyIsRecursive, TestSelfBind, TestMasks, TestIdentityOfSource, TestLinkInSource, TestProc, TestIDMappedMount.
#define _GNU_SOURCE
#include "stage2_linux.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef AT_RECURSIVE
#define AT_RECURSIVE 0x8000
#endif
#ifndef MS_PRIVATE
#define MS_PRIVATE (1 << 18)
#endif

#define FAIL(...) psb_fail(FD_CONTROL, "mounts", __VA_ARGS__)

void psb_attributes(int mount, struct op *o) {
	struct mount_attr a = {.attr_set = MOUNT_ATTR_NOSUID, .propagation = MS_PRIVATE};
	unsigned rec = o->flags & ACT_RECURSIVE ? AT_RECURSIVE : 0;
	if (!(o->flags & ACT_DEV)) a.attr_set |= MOUNT_ATTR_NODEV;
	if (o->flags & ACT_READONLY) a.attr_set |= MOUNT_ATTR_RDONLY;
	if (o->flags & ACT_NOEXEC) a.attr_set |= MOUNT_ATTR_NOEXEC;
	if (syscall(SYS_mount_setattr, mount, "", AT_EMPTY_PATH | rec, &a, sizeof a) != 0) FAIL("mount_setattr of %s", o->target.s);
	if (o->userns < 0) return;
	struct mount_attr map = {.attr_set = MOUNT_ATTR_IDMAP, .userns_fd = (uint64_t)o->userns};
	if (syscall(SYS_mount_setattr, mount, "", AT_EMPTY_PATH | rec, &map, sizeof map) == 0) return;
	// A file system mounted below may not know id maps; its files then stay their owners'.
	if (rec == 0 || syscall(SYS_mount_setattr, mount, "", AT_EMPTY_PATH, &map, sizeof map) != 0) FAIL("id-mapped mount of %s", o->source.s);
}

// move puts a mount onto the object at, or onto what has a name there; a link would not be followed.
static void move(int mount, int at, const char *name, const char *target) {
	if (syscall(SYS_move_mount, mount, "", at, name, MOVE_MOUNT_F_EMPTY_PATH | (*name ? 0 : MOVE_MOUNT_T_EMPTY_PATH)) != 0) FAIL("move_mount to %s", target);
	psb_covered(target);
}

// psb_attach moves a detached mount onto a target; a missing target is made, as a folder or as a file. On a file system of our own it is missing
// more often than not, so that making it comes first.
void psb_attach(int mount, const char *target, bool is_dir) {
	int parent = psb_parent(target);
	const char *leaf = psb_leaf(target);
	bool made = psb_parent_is_own() && (is_dir ? mkdirat(parent, leaf, 0755) : mknodat(parent, leaf, S_IFREG | 0644, 0)) == 0;
	if (made) { // just now, in a folder that nobody else can reach
		move(mount, parent, leaf, target);
		return;
	}
	if (psb_parent_is_own() && errno != EEXIST) FAIL("make %s", target);
	int at = psb_open(parent, leaf, O_PATH);
	if (at < 0 && errno == ENOENT) psb_must_be_own(parent, target);
	if (at < 0) FAIL("open %s", target);
	move(mount, at, "", target);
	psb_close(at);
}

static void set(int fs, const char *key, const char *value, struct op *o) {
	if (syscall(SYS_fsconfig, fs, FSCONFIG_SET_STRING, key, value, 0) != 0) FAIL("%s=%s for %s", key, value, o->target.s);
}

static void fresh(const char *type, struct op *o, unsigned attr) {
	char size[32], inodes[32], mode[16];
	int fs = (int)syscall(SYS_fsopen, type, FSOPEN_CLOEXEC);
	if (fs < 0) FAIL("fsopen %s", type);
	snprintf(size, sizeof size, "%llu", (unsigned long long)o->size);
	snprintf(mode, sizeof mode, "%o", o->mode);
	bool tmpfs = o->kind == OP_TMPFS;
	if (tmpfs && o->size) { // empty files take kernel memory that size does not count
		snprintf(inodes, sizeof inodes, "%llu", (unsigned long long)o->size / 4096 + 1024);
		set(fs, "size", size, o);
		set(fs, "nr_inodes", inodes, o);
	}
	if (tmpfs && o->mode) set(fs, "mode", mode, o);
	if (o->kind == OP_DEVPTS) set(fs, "ptmxmode", "0666", o);
	if (syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) != 0) FAIL("create %s for %s", type, o->target.s);
	if (o->flags & ACT_NOEXEC) attr |= MOUNT_ATTR_NOEXEC;
	if (o->flags & ACT_READONLY) attr |= MOUNT_ATTR_RDONLY;
	int mount = (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, attr | MOUNT_ATTR_NOSUID);
	if (mount < 0) FAIL("fsmount %s for %s", type, o->target.s);
	psb_close(fs);
	if (tmpfs) psb_own(mount);
	psb_attach(mount, o->target.s, true);
	psb_close(mount);
}

int psb_object(struct op *o, int from, struct stat *st) {
	int src = psb_open(from, o->source.s, O_PATH);
	if (src < 0) {
		if (o->flags & ACT_OPTIONAL && (errno == ENOENT || errno == ENOTDIR)) return -1;
		FAIL("open %s", o->source.s);
	}
	if (fstat(src, st) != 0) FAIL("fstat of %s", o->source.s);
	if (o->ino && (st->st_ino != o->ino || st->st_dev != (dev_t)o->dev)) {
		errno = ESTALE;
		FAIL("%s is another object than the one psb looked at", o->source.s);
	}
	return src;
}

static void bind(struct op *o, int from, int root) {
	struct stat st;
	int src = psb_object(o, from, &st);
	if (src < 0) return;
	if (o->flags & ACT_OPTIONAL) {
		int at = psb_open(root, o->target.s, O_PATH);
		if (at < 0 && (errno == ENOENT || errno == ENOTDIR)) { psb_close(src); return; }
		if (at >= 0) psb_close(at);
	}
	unsigned rec = o->flags & ACT_RECURSIVE ? AT_RECURSIVE : 0;
	int tree = (int)syscall(SYS_open_tree, src, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | rec);
	if (tree < 0) FAIL("open_tree of %s", o->source.s);
	psb_attributes(tree, o);
	// A bind onto itself takes the object it opened, not what now has the name.
	if (from == root && strcmp(o->source.s, o->target.s) == 0) move(tree, src, "", o->target.s);
	else psb_attach(tree, o->target.s, S_ISDIR(st.st_mode));
	psb_close(src);
	psb_close(tree);
}

// proc mounts procfs and makes what tunes the machine read-only, for every id: kernel id 0 without any capability can write there.
static void proc(struct op *o, int root) {
	static const char *const kept[] = {"sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi"};
	fresh("proc", o, MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
	for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
		char path[4096];
		if (snprintf(path, sizeof path, "%s/%s", o->target.s, kept[i]) >= (int)sizeof path) { errno = ENAMETOOLONG; FAIL("%.100s...", o->target.s); }
		struct op again = {.kind = OP_BIND_IN, .flags = ACT_READONLY | ACT_OPTIONAL | ACT_NOEXEC, .source = {path, 0}, .target = {path, 0}, .userns = -1};
		bind(&again, root, root);
	}
}

void psb_mount(struct op *o, int old, int root) {
	switch (o->kind) {
	case OP_TMPFS: fresh("tmpfs", o, MOUNT_ATTR_NODEV); return;
	case OP_BIND: bind(o, old, root); return;
	case OP_BIND_IN: bind(o, root, root); return;
	case OP_PROC: proc(o, root); return;
	case OP_DEVPTS: fresh("devpts", o, MOUNT_ATTR_NOEXEC); return;
	case OP_OVERLAY: psb_overlay(o, old); return;
	case OP_MQUEUE: fresh("mqueue", o, MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC); return;
	}
	errno = EINVAL;
	FAIL("BUG: act %u", o->kind);
}
