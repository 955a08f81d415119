// Does to the process: mounts overlays whose changes go to a file system of the box's own, which psb can read to the end and nobody else.
// Undone: not; the mounts end with the namespace, the changes when psb closes them.
// Preconditions: as in root_linux.c, whose acts these are: inside its first root. Linux 5.11, with an id map 5.19.
// Called by: root_linux.c, mounts_linux.c, reaper_linux.c.
// Proved by: TestOverlay, TestUpper, TestAudit.
#define _GNU_SOURCE
#include "stage2_linux.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

// From sys/mount.h, which cannot stand beside linux/mount.h in every C library.
int mount(const char *, const char *, const char *, unsigned long, const void *);
int umount2(const char *, int);
#ifndef MNT_DETACH
#define MNT_DETACH 2
#endif

#define FAIL(...) psb_fail(FD_CONTROL, "mounts", __VA_ARGS__)

static int upper = -1;
static unsigned overlays;

void psb_upper(struct spec *s) {
	char how[96];
	// Empty files, and the marks of removed ones, take kernel memory that size does not count.
	snprintf(how, sizeof how, "mode=700,size=%llu,nr_inodes=%llu", (unsigned long long)s->upper, (unsigned long long)s->upper / 4096 + 1024);
	if (mkdir("/upper", 0700) != 0 || mkdir("/lower", 0700) != 0) FAIL("folders for overlays");
	if (mount("psb", "/upper", "tmpfs", 6 /* MS_NOSUID | MS_NODEV */, how) != 0) FAIL("mount a tmpfs for overlays");
	upper = open("/upper", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (upper < 0) FAIL("open the tmpfs for overlays");
}

// like gives the folder that lies over lower its owner and mode: the overlay's root has them. An owner that has no name here cannot be given:
// then the folder is ours, and its mode gives us what others may.
static void like(const char *name, const struct stat *lower) {
	mode_t mode = lower->st_mode & 07777;
	bool grouped = fchownat(upper, name, (uid_t)-1, lower->st_gid, 0) == 0;
	if (fchownat(upper, name, lower->st_uid, (gid_t)-1, 0) != 0) {
		mode_t ours = grouped ? (mode >> 3 | mode) & 7 : mode & 7;
		mode = (mode & 01077) | (ours << 6);
	}
	if (fchmodat(upper, name, mode, 0) != 0) FAIL("mode of an overlay");
}

static void string(int fs, const char *key, const char *value, struct op *o) {
	if (syscall(SYS_fsconfig, fs, FSCONFIG_SET_STRING, key, value, 0) != 0) FAIL("%s=%s for the overlay on %s", key, value, o->target.s);
}

// layered makes the overlay of /lower, detached. What lower layers say of other places is never followed: no program may have written it.
static int layered(struct op *o, const char *up, const char *work) {
	int fs = (int)syscall(SYS_fsopen, "overlay", FSOPEN_CLOEXEC);
	if (fs < 0) FAIL("fsopen overlay");
	string(fs, "lowerdir", "/lower", o);
	string(fs, "upperdir", up, o);
	string(fs, "workdir", work, o);
	string(fs, "index", "off", o);
	string(fs, "metacopy", "off", o);
	if (!(o->flags & ACT_USERXATTR)) string(fs, "redirect_dir", "on", o);
	else if (syscall(SYS_fsconfig, fs, FSCONFIG_SET_FLAG, "userxattr", NULL, 0) != 0) FAIL("userxattr for the overlay on %s", o->target.s);
	if (syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) != 0) FAIL("create the overlay on %s", o->target.s);
	int layers = (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
	if (layers < 0) FAIL("fsmount the overlay on %s", o->target.s);
	close(fs);
	return layers;
}

void psb_overlay(struct op *o, int old) {
	struct stat st;
	struct op lower = {.flags = ACT_READONLY, .source = o->source, .target = o->target, .userns = o->userns};
	char name[24], up[40], work[40];
	int src = psb_object(o, old, &st);
	if (src < 0) return;
	int tree = (int)syscall(SYS_open_tree, src, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH);
	if (tree < 0) FAIL("open_tree of %s", o->source.s);
	psb_attributes(tree, &lower);
	if (fstat(tree, &st) != 0) FAIL("fstat of %s", o->source.s); // the owner that the id map shows
	if (!S_ISDIR(st.st_mode)) { errno = ENOTDIR; FAIL("overlay of %s", o->source.s); }
	// The lower layer has a name of our own while the kernel looks for it: no path of the host's has to be quoted.
	int at = open("/lower", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (at < 0 || syscall(SYS_move_mount, tree, "", at, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) != 0) FAIL("lower layer of %s", o->target.s);
	snprintf(name, sizeof name, "%u", overlays++);
	if (mkdirat(upper, name, 0755) != 0) FAIL("layers of %s", o->target.s);
	snprintf(name, sizeof name, "%u/upper", overlays - 1);
	snprintf(up, sizeof up, "/upper/%s", name);
	snprintf(work, sizeof work, "/upper/%u/work", overlays - 1);
	if (mkdirat(upper, name, 0700) != 0 || mkdir(work, 0700) != 0) FAIL("layers of %s", o->target.s);
	like(name, &st);
	int layers = layered(o, up, work);
	if (umount2("/lower", MNT_DETACH) != 0) FAIL("leave the lower layer of %s", o->target.s);
	psb_attach(layers, o->target.s, true);
	close(layers);
	close(at);
	close(tree);
	close(src);
}

void psb_hand_upper(void) {
	struct message m = {.kind = M_UPPER};
	if (!psb_send_descriptors(FD_START, &m, &upper, 1)) psb_fail(FD_CONTROL, "mounts", "hand over what overlays hold");
	close(upper);
}
