// Does to the process: replaces its root folder by one built from the Spec's acts, in its own mount namespace.
// Undone: not; nothing of it reaches the host's namespace or its folders.
// Preconditions: own mount namespace, CAP_SYS_ADMIN over it, no threads. Linux 5.12.
// Called by: reaper_linux.c.
// Proved by: TestRoot*, TestIdentityOfSource, TestNothingLeftOnHost.
#define _GNU_SOURCE
#include "stage2_linux.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

// From sys/mount.h, which cannot stand beside linux/mount.h in every C library.
int mount(const char *, const char *, const char *, unsigned long, const void *);
int umount2(const char *, int);
#ifndef MNT_DETACH
#define MNT_DETACH 2
#endif
#ifndef MS_REC
#define MS_REC 16384
#define MS_PRIVATE (1 << 18)
#endif
#ifndef AT_RECURSIVE
#define AT_RECURSIVE 0x8000
#endif

static int old_root = -1, new_root = -1;
static dev_t own[256]; // devices of the tmpfs that are ours: only there a missing target may be made
static int nown;

#define FAIL(...) psb_fail(FD_CONTROL, "mounts", __VA_ARGS__)

static int open_in(int root, const char *path, int flags) {
	struct open_how how = {.flags = (uint64_t)(flags | O_CLOEXEC | O_NOFOLLOW), .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
	int fd;
	do fd = (int)syscall(SYS_openat2, root, path, &how, sizeof how); while (fd < 0 && (errno == EINTR || errno == EAGAIN));
	return fd;
}

static void remember(int fd) {
	struct stat st;
	if (fstat(fd, &st) != 0) FAIL("fstat of a fresh mount");
	if (nown == (int)(sizeof own / sizeof *own)) FAIL("BUG: too many private file systems");
	own[nown++] = st.st_dev;
}

static void must_be_own(int fd, const char *path) {
	struct stat st;
	if (fstat(fd, &st) != 0) FAIL("fstat of the folder of %s", path);
	for (int i = 0; i < nown; i++) if (own[i] == st.st_dev) return;
	errno = ENOENT;
	FAIL("%s is not there, and nothing is made in folders of the host", path);
}

// folder gives the folder at path (n bytes of it), making what is missing on our own file systems.
static int folder(const char *path, size_t n) {
	static char last[4096];
	static int last_fd = -1;
	char dir[4096];
	if (n >= sizeof dir) { errno = ENAMETOOLONG; FAIL("%.60s...", path); }
	memcpy(dir, path, n);
	dir[n] = 0;
	if (n == 0) strcpy(dir, "/");
	if (last_fd >= 0 && strcmp(dir, last) == 0) return last_fd;
	int fd = open_in(new_root, dir, O_PATH | O_DIRECTORY);
	if (fd < 0 && errno == ENOENT) {
		char *slash = strrchr(dir, '/');
		int parent = folder(dir, (size_t)(slash - dir));
		must_be_own(parent, dir);
		if (mkdirat(parent, slash + 1, 0755) != 0 && errno != EEXIST) FAIL("mkdir %s", dir);
		fd = open_in(new_root, dir, O_PATH | O_DIRECTORY);
	}
	if (fd < 0) FAIL("open folder %s", dir);
	if (last_fd >= 0) close(last_fd);
	strcpy(last, dir);
	last_fd = fd;
	return fd;
}

// A mount may have covered the remembered folder.
static void forget(void) { (void)folder("", 0); }

static const char *leaf(const char *path) { return strrchr(path, '/') + 1; }
static int parent_of(const char *path) { return folder(path, (size_t)(leaf(path) - 1 - path)); }

static void attributes(int mount, struct op *o, bool clear_dev) {
	struct mount_attr a = {.attr_set = MOUNT_ATTR_NOSUID};
	unsigned rec = o->flags & ACT_RECURSIVE ? AT_RECURSIVE : 0;
	if (!clear_dev) a.attr_set |= MOUNT_ATTR_NODEV;
	if (o->flags & ACT_READONLY) a.attr_set |= MOUNT_ATTR_RDONLY;
	if (o->flags & ACT_NOEXEC) a.attr_set |= MOUNT_ATTR_NOEXEC;
	a.propagation = MS_PRIVATE;
	if (syscall(SYS_mount_setattr, mount, "", AT_EMPTY_PATH | rec, &a, sizeof a) != 0) FAIL("mount_setattr of %s", o->target.s);
	if (o->userns < 0) return;
	struct mount_attr map = {.attr_set = MOUNT_ATTR_IDMAP, .userns_fd = (uint64_t)o->userns};
	if (syscall(SYS_mount_setattr, mount, "", AT_EMPTY_PATH | rec, &map, sizeof map) == 0) return;
	// A file system mounted below may not know id maps; its files then stay their owners'.
	if (rec == 0 || syscall(SYS_mount_setattr, mount, "", AT_EMPTY_PATH, &map, sizeof map) != 0) FAIL("id-mapped mount of %s", o->source.s);
}

// attach moves a detached mount onto a target; a missing target is made, as a folder or as a file.
static void attach(int mount, const char *target, bool is_dir) {
	int at = open_in(new_root, target, O_PATH);
	if (at < 0 && errno == ENOENT) {
		int parent = parent_of(target);
		must_be_own(parent, target);
		if (is_dir ? mkdirat(parent, leaf(target), 0755) != 0 : mknodat(parent, leaf(target), S_IFREG | 0644, 0) != 0) FAIL("make %s", target);
		at = open_in(new_root, target, O_PATH);
	}
	if (at < 0) FAIL("open %s", target);
	if (syscall(SYS_move_mount, mount, "", at, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) != 0) FAIL("move_mount to %s", target);
	close(at);
	forget();
}

static void fresh(const char *type, struct op *o, unsigned attr) {
	char size[32], mode[16];
	int fs = (int)syscall(SYS_fsopen, type, FSOPEN_CLOEXEC);
	if (fs < 0) FAIL("fsopen %s", type);
	snprintf(size, sizeof size, "%llu", (unsigned long long)o->size);
	snprintf(mode, sizeof mode, "%o", o->mode);
	bool tmpfs = strcmp(type, "tmpfs") == 0;
	if (tmpfs && o->size && syscall(SYS_fsconfig, fs, FSCONFIG_SET_STRING, "size", size, 0) != 0) FAIL("tmpfs size %s", size);
	if (tmpfs && o->mode && syscall(SYS_fsconfig, fs, FSCONFIG_SET_STRING, "mode", mode, 0) != 0) FAIL("tmpfs mode %s", mode);
	if (strcmp(type, "devpts") == 0 && syscall(SYS_fsconfig, fs, FSCONFIG_SET_STRING, "ptmxmode", "0666", 0) != 0) FAIL("devpts ptmxmode");
	if (syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) != 0) FAIL("create %s for %s", type, o->target.s);
	if (o->flags & ACT_NOEXEC) attr |= MOUNT_ATTR_NOEXEC;
	int mount = (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, attr | MOUNT_ATTR_NOSUID);
	if (mount < 0) FAIL("fsmount %s for %s", type, o->target.s);
	close(fs);
	if (tmpfs) remember(mount);
	attach(mount, o->target.s, true);
	close(mount);
}

static void bind(struct op *o, int root) {
	struct stat st;
	bool optional = o->flags & ACT_OPTIONAL;
	int src = open_in(root, o->source.s, O_PATH);
	if (src < 0) {
		if (optional && (errno == ENOENT || errno == ENOTDIR)) return;
		FAIL("open %s", o->source.s);
	}
	if (fstat(src, &st) != 0) FAIL("fstat of %s", o->source.s);
	if (o->ino && (st.st_ino != o->ino || st.st_dev != (dev_t)o->dev)) { errno = ESTALE; FAIL("%s is another object than the one psb looked at", o->source.s); }
	if (optional) {
		int at = open_in(new_root, o->target.s, O_PATH);
		if (at < 0 && errno == ENOENT) { close(src); return; }
		if (at >= 0) close(at);
	}
	unsigned rec = o->flags & ACT_RECURSIVE ? AT_RECURSIVE : 0;
	int tree = (int)syscall(SYS_open_tree, src, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | rec);
	if (tree < 0) FAIL("open_tree of %s", o->source.s);
	close(src);
	attributes(tree, o, o->flags & ACT_DEV);
	attach(tree, o->target.s, S_ISDIR(st.st_mode));
	close(tree);
}

// proc mounts procfs and makes what tunes the machine read-only, for every id: kernel id 0 without any capability can write there.
static void proc(struct op *o) {
	static const char *const kept[] = {"sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi"};
	fresh("proc", o, MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
	for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
		char path[64];
		snprintf(path, sizeof path, "%s/%s", o->target.s, kept[i]);
		struct op again = {.kind = OP_BIND_IN, .flags = ACT_READONLY | ACT_OPTIONAL | ACT_NOEXEC, .source = {path, 0}, .target = {path, 0}, .userns = -1};
		bind(&again, new_root);
	}
}

static void file(struct op *o) {
	int parent = parent_of(o->target.s);
	must_be_own(parent, o->target.s);
	int fd = openat(parent, leaf(o->target.s), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0) FAIL("create %s", o->target.s);
	for (size_t done = 0; done < o->data.n;) {
		ssize_t n = write(fd, o->data.s + done, o->data.n - done);
		if (n < 0 && errno == EINTR) continue;
		if (n <= 0) FAIL("write %s", o->target.s);
		done += (size_t)n;
	}
	if (fchmod(fd, o->mode) != 0) FAIL("chmod %s", o->target.s);
	close(fd);
}

static void dir(struct op *o) {
	if (strcmp(o->target.s, "/") == 0) return;
	int parent = parent_of(o->target.s);
	int fd = openat(parent, leaf(o->target.s), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0) { close(fd); return; }
	must_be_own(parent, o->target.s);
	if (mkdirat(parent, leaf(o->target.s), 0700) != 0) FAIL("mkdir %s", o->target.s);
	if (fchmodat(parent, leaf(o->target.s), o->mode, 0) != 0) FAIL("chmod %s", o->target.s);
}

static void act(struct op *o) {
	switch (o->kind) {
	case OP_DIR: dir(o); return;
	case OP_FILE: file(o); return;
	case OP_SYMLINK: {
		int parent = parent_of(o->target.s);
		must_be_own(parent, o->target.s);
		if (symlinkat(o->source.s, parent, leaf(o->target.s)) != 0) FAIL("symlink %s", o->target.s);
		return;
	}
	case OP_TMPFS: fresh("tmpfs", o, MOUNT_ATTR_NODEV); return;
	case OP_BIND: bind(o, old_root); return;
	case OP_BIND_IN: bind(o, new_root); return;
	case OP_PROC: proc(o); return;
	case OP_DEVPTS: fresh("devpts", o, MOUNT_ATTR_NOEXEC); return;
	case OP_MQUEUE: fresh("mqueue", o, MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC); return;
	case OP_READ_ONLY: {
		struct mount_attr a = {.attr_set = MOUNT_ATTR_RDONLY};
		int at = open_in(new_root, o->target.s, O_PATH);
		unsigned rec = o->flags & ACT_RECURSIVE ? AT_RECURSIVE : 0;
		if (at < 0) FAIL("open %s", o->target.s);
		if (syscall(SYS_mount_setattr, at, "", AT_EMPTY_PATH | rec, &a, sizeof a) != 0) FAIL("read-only %s", o->target.s);
		close(at);
		return;
	}
	}
}

void psb_build_root(struct spec *s) {
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) FAIL("make every mount private");
	// A first root that holds the old one and the new one side by side: every source stays reachable, also what the folder it is built on hides.
	if (mount("psb", s->root.s, "tmpfs", 6 /* MS_NOSUID | MS_NODEV */, "mode=755,size=64m") != 0) FAIL("mount a tmpfs on %s", s->root.s);
	if (chdir(s->root.s) != 0 || mkdir("new", 0755) != 0 || mkdir("old", 0755) != 0) FAIL("prepare %s", s->root.s);
	if (syscall(SYS_pivot_root, ".", "old") != 0) FAIL("pivot_root");
	if (chdir("/") != 0) FAIL("chdir /");
	if (mount("psb", "/new", "tmpfs", 6, "mode=755,size=64m") != 0) FAIL("mount the new root");
	old_root = open("/old", O_PATH | O_DIRECTORY | O_CLOEXEC);
	new_root = open("/new", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (old_root < 0 || new_root < 0) FAIL("open the roots");
	remember(new_root);
	for (uint32_t i = 0; i < s->nops; i++) {
		errno = 0;
		act(&s->ops[i]);
	}
	if (umount2("/old", MNT_DETACH) != 0) FAIL("leave the old root");
	if (fchdir(new_root) != 0 || syscall(SYS_pivot_root, ".", ".") != 0) FAIL("enter the new root");
	if (umount2(".", MNT_DETACH) != 0 || chdir("/") != 0) FAIL("leave the first root");
	struct mount_attr a = {.attr_set = MOUNT_ATTR_RDONLY};
	if (syscall(SYS_mount_setattr, AT_FDCWD, "/", 0, &a, sizeof a) != 0) FAIL("read-only root");
	close(old_root);
	close(new_root);
}
