// Does to the process: replaces its root folder by one built from the Spec's acts, in its own mount namespace.
// Undone: not; nothing of it reaches the host's namespace or its folders.
// Preconditions: own mount namespace, CAP_SYS_ADMIN over it, no threads. Linux 5.12.
// Called by: reaper_linux.c.
// Proved by: TestOps, TestUmask, TestManyActs, TestNothingLeftOnHost, TestStageErrors.
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

static int old_root = -1, new_root = -1;
static dev_t *own; // devices of the tmpfs that are ours: only there a missing target may be made
static size_t nown;

#define FAIL(...) psb_fail(FD_CONTROL, "mounts", __VA_ARGS__)

int psb_open(int root, const char *path, int flags) {
	// Not O_NOFOLLOW: with O_PATH it would give the last link itself instead of refusing it.
	struct open_how how = {.flags = (uint64_t)(flags | O_CLOEXEC), .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
	if (root >= 0) how.resolve |= RESOLVE_IN_ROOT;
	int fd, tries = 0;
	// EAGAIN: somebody renamed on the way of a "..".
	do fd = (int)syscall(SYS_openat2, root >= 0 ? root : AT_FDCWD, path, &how, sizeof how); while (fd < 0 && (errno == EINTR || (errno == EAGAIN && tries++ < 1000)));
	return fd;
}

void psb_own(int fd) {
	struct stat st;
	if (fstat(fd, &st) != 0) FAIL("fstat of a fresh mount");
	own = realloc(own, (nown + 1) * sizeof *own);
	if (!own) FAIL("memory");
	own[nown++] = st.st_dev;
}

static bool is_own(int fd, const char *path) {
	struct stat st;
	if (fstat(fd, &st) != 0) FAIL("fstat of %s", path);
	for (size_t i = 0; i < nown; i++) if (own[i] == st.st_dev) return true;
	return false;
}

void psb_must_be_own(int fd, const char *path) {
	if (is_own(fd, path)) return;
	errno = ENOENT;
	FAIL("%s is not there, and nothing is made in folders of the host", path);
}

static const struct spec *spec;

// give hands what root made over to the program's id; an ordinary user's is its own already. Programs ask who owns a folder (git).
static void give(int parent, const char *path) {
	static int uid = -1;
	if (uid < 0) uid = (int)geteuid();
	bool root = uid == 0 && (spec->flags & BOX_LATE_USER || !(spec->flags & BOX_USER));
	if (root && fchownat(parent, psb_leaf(path), spec->host_uid, spec->host_gid, AT_SYMLINK_NOFOLLOW) != 0) FAIL("chown %s", path);
}

static char last[4096]; // the folder that last_fd stands for
static int last_fd = -1;
static bool last_own; // it is on a file system of ours

// folder gives the folder at path (n bytes of it), making what is missing on our own file systems.
static int folder(const char *path, size_t n) {
	char dir[sizeof last];
	if (n >= sizeof dir) { errno = ENAMETOOLONG; FAIL("%.100s...", path); }
	memcpy(dir, path, n);
	dir[n] = 0;
	if (n == 0) strcpy(dir, "/");
	if (last_fd >= 0 && strcmp(dir, last) == 0) return last_fd;
	int fd = psb_open(new_root, dir, O_PATH | O_DIRECTORY);
	if (fd < 0 && errno == ENOENT) {
		int at = psb_open(new_root, "/", O_PATH | O_DIRECTORY);
		for (char *end = dir; at >= 0 && *end;) { // from the top, one name at a time
			end += strcspn(end + 1, "/") + 1;
			char kept = *end;
			*end = 0;
			int next = psb_open(new_root, dir, O_PATH | O_DIRECTORY);
			if (next < 0 && errno == ENOENT) {
				psb_must_be_own(at, dir);
				if (mkdirat(at, psb_leaf(dir), 0755) != 0) FAIL("mkdir %s", dir);
				give(at, dir);
				next = psb_open(new_root, dir, O_PATH | O_DIRECTORY);
			}
			if (next < 0) FAIL("open folder %s", dir);
			close(at);
			at = next;
			*end = kept;
		}
		fd = at;
	}
	if (fd < 0) FAIL("open folder %s", dir);
	if (last_fd >= 0) close(last_fd);
	strcpy(last, dir);
	last_fd = fd;
	last_own = is_own(fd, dir);
	return fd;
}

static void forget(void) {
	if (last_fd >= 0) close(last_fd);
	last_fd = -1;
}

void psb_covered(const char *target) {
	size_t n = strlen(target);
	if (n == 1 || (strncmp(last, target, n) == 0 && (last[n] == 0 || last[n] == '/'))) forget();
}

bool psb_parent_is_own(void) { return last_own; }

const char *psb_leaf(const char *path) { return strrchr(path, '/') + 1; }
int psb_parent(const char *path) { return folder(path, (size_t)(psb_leaf(path) - 1 - path)); }

static void file(struct op *o) {
	int parent = psb_parent(o->target.s);
	psb_must_be_own(parent, o->target.s);
	int fd = openat(parent, psb_leaf(o->target.s), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, o->mode); // umask is 0
	if (fd < 0) FAIL("create %s", o->target.s);
	for (size_t done = 0; done < o->data.n;) {
		ssize_t n = write(fd, o->data.s + done, o->data.n - done);
		if (n < 0 && errno == EINTR) continue;
		if (n <= 0) FAIL("write %s", o->target.s);
		done += (size_t)n;
	}
	give(parent, o->target.s);
	close(fd);
}

static void dir(struct op *o) {
	if (strcmp(o->target.s, "/") == 0) return;
	int parent = psb_parent(o->target.s);
	if (last_own && mkdirat(parent, psb_leaf(o->target.s), o->mode) == 0) { // umask is 0
		give(parent, o->target.s);
		return;
	}
	int fd = openat(parent, psb_leaf(o->target.s), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT) psb_must_be_own(parent, o->target.s);
	if (fd < 0) FAIL("mkdir %s", o->target.s);
	close(fd);
}

// times gives folders their host's time of change, once nothing is made in them any more: font caches compare it. A host object that was
// there, or was mounted over ours, is not touched; a folder that is sealed already keeps its time.
static void times(struct spec *s) {
	for (uint32_t i = 0; i < s->nops; i++) {
		struct op *o = &s->ops[i];
		if (o->kind != OP_DIR || o->modified == 0) continue;
		struct timespec at[2] = {{.tv_nsec = UTIME_OMIT}, {(time_t)(o->modified / 1000000000), (long)(o->modified % 1000000000)}};
		int fd = psb_open(new_root, o->target.s, O_RDONLY | O_DIRECTORY);
		if (fd < 0) continue; // not a folder of ours any more, or one whose mode lets nobody in
		if (is_own(fd, o->target.s) && futimens(fd, at) != 0 && errno != EROFS) FAIL("time of %s", o->target.s);
		close(fd);
	}
}

static void link_to(struct op *o) {
	int parent = psb_parent(o->target.s);
	psb_must_be_own(parent, o->target.s);
	if (symlinkat(o->source.s, parent, psb_leaf(o->target.s)) != 0) FAIL("symlink %s", o->target.s);
	give(parent, o->target.s);
}

static void seal(struct op *o) {
	struct mount_attr a = {.attr_set = MOUNT_ATTR_RDONLY};
	int at = psb_open(new_root, o->target.s, O_PATH);
	unsigned rec = o->flags & ACT_RECURSIVE ? 0x8000 /* AT_RECURSIVE */ : 0;
	if (at < 0) FAIL("open %s", o->target.s);
	if (syscall(SYS_mount_setattr, at, "", AT_EMPTY_PATH | rec, &a, sizeof a) != 0) FAIL("read-only %s", o->target.s);
	close(at);
}

void psb_build_root(struct spec *s) {
	spec = s;
	mode_t mask = umask(0); // the caller's belongs to the program, not to the folders it has to walk through
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
	psb_own(new_root);
	if (s->upper) psb_upper(s);
	for (uint32_t i = 0; i < s->nops; i++) {
		struct op *o = &s->ops[i];
		errno = 0;
		switch (o->kind) {
		case OP_DIR: dir(o); break;
		case OP_FILE: file(o); break;
		case OP_SYMLINK: link_to(o); break;
		case OP_READ_ONLY: seal(o); break;
		default: psb_mount(o, old_root, new_root);
		}
	}
	times(s);
	forget();
	psb_closed();
	if (umount2("/old", MNT_DETACH) != 0) FAIL("leave the old root");
	if (fchdir(new_root) != 0 || syscall(SYS_pivot_root, ".", ".") != 0) FAIL("enter the new root");
	if (umount2(".", MNT_DETACH) != 0 || chdir("/") != 0) FAIL("leave the first root");
	struct mount_attr a = {.attr_set = MOUNT_ATTR_RDONLY};
	if (syscall(SYS_mount_setattr, AT_FDCWD, "/", 0, &a, sizeof a) != 0) FAIL("read-only root");
	close(old_root);
	close(new_root);
	umask(mask);
}
