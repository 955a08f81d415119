// Does to the process: under a name that a prepared launch is kept for, it runs the program and ends with it, or hands the running box to Go.
// Undone: not.
// Preconditions: runs in the constructor, single-threaded, before the Go runtime starts.
// Called by: entry_linux.c.
// Proved by: TestPrepared, TestPreparedFollowsTheCaller, TestPreparedFollowsTheHost, TestPreparedHostile.
#define _GNU_SOURCE
#include "prepared_linux.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct running psb_handed; // to Go: control is 0 when there is none
struct text psb_handed_own;
char psb_prepared_names[MOST_WORDS + 1][65]; // by number of known words: the file's name, in hex; "" where there is none

// other_home: the account has a home that is there and is not what HOME says. Go's records are in that one, and only they are kept from every
// box (account.go).
static bool other_home(const char *home) {
	char text[1 << 16];
	struct stat st;
	int fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
	if (fd >= 0) close(fd);
	if (n < 0 || n == (ssize_t)sizeof text - 1) return true; // an error, or more than is read here
	text[n] = 0;
	char *line, *rest = text;
	while ((line = strsep(&rest, "\n"))) {
		char *field[8] = {NULL}, *end;
		for (int i = 0; i < 7 && line; i++) field[i] = strsep(&line, ":");
		if (!field[2] || strtoul(field[2], &end, 10) != geteuid() || *end || end == field[2]) continue;
		return !field[6] || (stat(field[5], &st) == 0 && S_ISDIR(st.st_mode) && strcmp(field[5], home) != 0);
	}
	return false;
}

// folder names psb's own folder of prepared launches.
static bool folder(char *path, size_t room) {
	const char *base = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	int n = -1;
	if (base && base[0] == '/') n = snprintf(path, room, "%s/psb/launches", base);
	else if (home && home[0] == '/' && !other_home(home)) n = snprintf(path, room, "%s/.local/state/psb/launches", home);
	return n > 0 && n < (int)room;
}

// open_folder: what somebody else could have written is nothing to start from.
static int open_folder(const char *path) {
	struct stat st;
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid() && !(st.st_mode & 022)) return fd;
	if (fd >= 0) close(fd);
	return -1;
}

// load reads a file whole; NULL when it is not there or not ours.
static unsigned char *load(int dir, const char *name, size_t *size) {
	struct stat st;
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	unsigned char *b = NULL;
	size_t got = 0;
	if (fd < 0) return NULL;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & 022) && st.st_nlink == 1 && st.st_size > 0 && st.st_size < 1 << 24 &&
		(b = malloc((size_t)st.st_size))) {
		for (ssize_t n = 1; got < (size_t)st.st_size && n > 0; got += n > 0 ? (size_t)n : 0) n = read(fd, b + got, (size_t)st.st_size - got);
		if (got != (size_t)st.st_size) { free(b); b = NULL; }
	}
	close(fd);
	*size = got;
	return b;
}

bool psb_prepared_decode(const unsigned char *file, size_t size, const unsigned char digest[32], struct prepared *p) {
	struct cursor cur = {file, file + size, false}, *c = &cur;
	memset(p, 0, sizeof *p);
	if (psb_u32(c) != PREPARED_MAGIC || psb_u32(c) != PREPARED_VERSION) return false;
	struct text who = psb_bytes(c);
	if (who.n != 32 || memcmp(who.s, digest, 32) != 0 || !psb_unchanged(c)) return false;
	p->flags = psb_u32(c); p->least = psb_u32(c);
	p->fs = psb_u64(c); p->net = psb_u64(c); p->scoped = psb_u64(c);
	for (int i = 0; i < 3; i++) p->stdio[i] = psb_u64(c);
	p->group = psb_text(c); p->refusals = psb_text(c);
	p->watched = psb_texts(c);
	p->head = psb_bytes(c); p->argv = psb_texts(c); p->env = psb_texts(c);
	struct text kinds = psb_bytes(c);
	p->from_caller = (const unsigned char *)kinds.s;
	p->tail = psb_bytes(c);
	p->own = psb_bytes(c);
	p->nacts = psb_u32(c);
	p->acts = *c;
	for (uint32_t i = 0; i < p->nacts && !c->bad; i++) { psb_u32(c); psb_text(c); psb_text(c); }
	if (kinds.n != p->env.n || p->group.n >= sizeof psb_handed.group || psb_u32(c) != PREPARED_MAGIC || c->p != c->end) c->bad = true;
	return !c->bad;
}

static void hex(const unsigned char digest[32], char out[65]) {
	for (int i = 0; i < 64; i++) out[i] = "0123456789abcdef"[i % 2 ? digest[i / 2] & 15 : digest[i / 2] >> 4];
	out[64] = 0;
}

static void run(struct prepared *p, char **words, uint32_t n) {
	if (n < p->least || !psb_prepared_start(p, words, n, &psb_handed)) {
		memset(&psb_handed, 0, sizeof psb_handed);
		return;
	}
	if (!(p->flags & PREPARED_GO)) psb_prepared_watch(p, &psb_handed); // returns only when Go has to go on
	psb_handed_own = p->own;
}

// The names are kept also when nothing is found: they are what Go stores a launch under.
void psb_prepared(int argc, char **argv) {
	struct digest d;
	unsigned char sum[32];
	struct prepared p;
	char path[4096];
	if (argc < 2 || !folder(path, sizeof path) || !psb_identity(&d)) return;
	int dir = open_folder(path), most = argc < MOST_WORDS ? argc : MOST_WORDS;
	psb_identity_word(&d, argv[0]);
	for (int n = 1; n < most; n++) {
		psb_identity_word(&d, argv[n]);
		psb_digest_end(d, sum);
		hex(sum, psb_prepared_names[n]);
		size_t size;
		unsigned char *file = dir < 0 ? NULL : load(dir, psb_prepared_names[n], &size);
		if (!file) continue;
		close(dir);
		if (psb_prepared_decode(file, size, sum, &p)) { p.command = argv; run(&p, argv + n + 1, (uint32_t)(argc - n - 1)); }
		if (!psb_handed.control) free(file);
		return;
	}
	if (dir >= 0) close(dir);
}
