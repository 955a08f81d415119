// Does to the process: looks at host objects again (stat(2), small files of /proc).
// Undone: nothing to undo.
// Preconditions: none.
// Called by: prepared_linux.c.
// Proved by: TestPreparedFollowsTheHost, TestUnchanged.
#define _GNU_SOURCE
#include "prepared_linux.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ABSENT, NODE, CONTENT, TEXT, KIND = 3, FOLLOW = 1 << 2 }; // see prepared.go

static bool same_node(struct cursor *c, const struct stat *st) {
	uint64_t dev = psb_u64(c), ino = psb_u64(c), rdev = psb_u64(c);
	uint32_t mode = psb_u32(c), uid = psb_u32(c), gid = psb_u32(c);
	return dev == st->st_dev && ino == st->st_ino && rdev == st->st_rdev && mode == st->st_mode && uid == st->st_uid && gid == st->st_gid;
}

static bool same_content(struct cursor *c, const struct stat *st) {
	uint64_t size = psb_u64(c), mtime = psb_u64(c), ctime = psb_u64(c);
	return size == (uint64_t)st->st_size && mtime == (uint64_t)st->st_mtim.tv_sec * 1000000000 + (uint64_t)st->st_mtim.tv_nsec &&
		ctime == (uint64_t)st->st_ctim.tv_sec * 1000000000 + (uint64_t)st->st_ctim.tv_nsec;
}

static bool same_text(const char *path, struct text want) {
	static char buf[1 << 16];
	size_t got = 0;
	ssize_t n = 1;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0) return false;
	while (got < sizeof buf && (n = read(fd, buf + got, sizeof buf - got)) > 0) got += (size_t)n;
	close(fd);
	return n == 0 && got == want.n && memcmp(buf, want.s, got) == 0;
}

static bool same(struct cursor *c) {
	struct stat st;
	uint32_t kind = psb_u32(c);
	struct text path = psb_text(c);
	if (c->bad || (kind & ~(uint32_t)FOLLOW) > TEXT) return false;
	if ((kind & KIND) == TEXT) return same_text(path.s, psb_bytes(c));
	bool there = fstatat(AT_FDCWD, path.s, &st, kind & FOLLOW ? 0 : AT_SYMLINK_NOFOLLOW) == 0;
	if ((kind & KIND) == ABSENT) return !there && (errno == ENOENT || errno == ENOTDIR);
	return there && same_node(c, &st) && ((kind & KIND) == NODE || same_content(c, &st)) && !c->bad;
}

bool psb_unchanged(struct cursor *c) {
	uint32_t n = psb_u32(c);
	for (uint32_t i = 0; i < n; i++) if (!same(c)) return false;
	return !c->bad;
}
