// Does to the process: maps the encoded Spec and allocates memory for its lists.
// Undone: not; the stages live as long as the mapping.
// Preconditions: called once, before anything else, by the keeper.
// Called by: entry_linux.c.
// Proved by: TestDecodeHostile, FuzzDecode.
#include "stage2_linux.h"
#include <stdlib.h>
#include <string.h>

static uint64_t word(struct cursor *c, size_t n) {
	uint64_t v = 0;
	if (c->bad || (size_t)(c->end - c->p) < n) { c->bad = true; return 0; }
	for (size_t i = 0; i < n; i++) v |= (uint64_t)c->p[i] << (8 * i);
	c->p += n;
	return v;
}
uint32_t psb_u32(struct cursor *c) { return (uint32_t)word(c, 4); }
uint64_t psb_u64(struct cursor *c) { return word(c, 8); }

struct text psb_bytes(struct cursor *c) {
	struct text t = {"", 0};
	uint32_t n = psb_u32(c);
	if (c->bad || (size_t)(c->end - c->p) < (size_t)n + 1 || c->p[n] != 0) { c->bad = true; return t; }
	t.s = (const char *)c->p;
	t.n = n;
	c->p += (size_t)n + 1;
	return t;
}

struct text psb_text(struct cursor *c) {
	struct text t = psb_bytes(c);
	if (memchr(t.s, 0, t.n)) c->bad = true;
	return t;
}

// An item takes at least `least` bytes of the blob: that bounds every count before memory is asked for.
void *psb_items(struct cursor *c, uint32_t *n, size_t least, size_t size) {
	*n = psb_u32(c);
	if (c->bad || *n > (size_t)(c->end - c->p) / least) { c->bad = true; *n = 0; }
	void *v = calloc((size_t)*n + 1, size);
	if (!v) { c->bad = true; *n = 0; }
	return v;
}

struct list psb_texts(struct cursor *c) {
	struct list l;
	l.v = psb_items(c, &l.n, 5, sizeof *l.v);
	for (uint32_t i = 0; i < l.n && !c->bad; i++) l.v[i] = (char *)psb_text(c).s;
	return l;
}

static bool absolute(struct text t) { return t.n > 0 && t.s[0] == '/'; }

// A target names each folder on its way once, so that what an act makes, remembers and covers is what the next one finds.
static bool clean(struct text t) {
	if (!absolute(t)) return false;
	if (t.n == 1) return true;
	for (const char *p = t.s; *p; p += strcspn(p, "/")) {
		size_t n = strcspn(++p, "/");
		if (n == 0 || (n == 1 && p[0] == '.') || (n == 2 && p[0] == '.' && p[1] == '.')) return false;
	}
	return true;
}

static void op(struct cursor *c, struct op *o) {
	o->kind = psb_u32(c); o->flags = psb_u32(c); o->mode = psb_u32(c);
	o->size = psb_u64(c); o->modified = psb_u64(c); o->dev = psb_u64(c); o->ino = psb_u64(c);
	o->map_uid = psb_u32(c); o->map_gid = psb_u32(c);
	o->source = psb_text(c); o->target = psb_text(c); o->data = psb_bytes(c);
	o->userns = -1;
	if (o->kind < OP_DIR || o->kind > OP_LAST || o->flags & ~(uint32_t)ACT_ALL || o->mode & ~(uint32_t)01777 || !clean(o->target)) c->bad = true;
	if (o->target.n == 1 && o->kind != OP_DIR && o->kind != OP_READ_ONLY) c->bad = true;
	if (o->flags & ACT_IDMAP && o->kind != OP_BIND && o->kind != OP_OVERLAY) c->bad = true;
	if (o->flags & ACT_USERXATTR && o->kind != OP_OVERLAY) c->bad = true;
	if ((o->kind == OP_BIND || o->kind == OP_BIND_IN || o->kind == OP_OVERLAY) && !absolute(o->source)) c->bad = true;
}

// Each of these would act on the host instead of the box.
static bool fits(struct spec *s) {
	uint32_t f = s->flags;
	if (s->nops && (!(f & BOX_MOUNT) || !absolute(s->root))) return false;
	for (uint32_t i = 0; i < s->nops; i++) if (s->ops[i].kind == OP_OVERLAY && !s->upper) return false;
	if (s->upper && !s->nops) return false;
	if ((s->hostname.n && !(f & BOX_UTS)) || (f & BOX_LOOPBACK && !(f & BOX_NET))) return false;
	if ((f & BOX_LATE_USER && !(f & BOX_USER)) || (f & BOX_LISTENER && s->filter.n == 0) || (s->nrules && !(f & BOX_LANDLOCK))) return false;
	return true;
}

bool psb_decode(const unsigned char *blob, size_t size, struct spec *s) {
	struct cursor cur = {blob, blob + size, false}, *c = &cur;
	memset(s, 0, sizeof *s);
	if (psb_u32(c) != 0x31425350 || psb_u32(c) != 1) return false;
	s->flags = psb_u32(c); s->uid = psb_u32(c); s->gid = psb_u32(c); s->host_uid = psb_u32(c); s->host_gid = psb_u32(c); s->ignored = psb_u64(c); s->mask = psb_u64(c);
	s->hostname = psb_text(c);
	s->cgroup_procs = psb_texts(c); s->cgroup_dirs = psb_texts(c);
	s->root = psb_text(c);
	s->upper = psb_u64(c);
	s->ops = psb_items(c, &s->nops, 67, sizeof *s->ops);
	for (uint32_t i = 0; i < s->nops && !c->bad; i++) op(c, &s->ops[i]);
	s->rlimits = psb_items(c, &s->nrlimits, 12, sizeof *s->rlimits);
	for (uint32_t i = 0; i < s->nrlimits && !c->bad; i++) { s->rlimits[i].resource = psb_u32(c); s->rlimits[i].value = psb_u64(c); }
	s->rules = psb_items(c, &s->nrules, 13, sizeof *s->rules);
	for (uint32_t i = 0; i < s->nrules && !c->bad; i++) { s->rules[i].access = psb_u64(c); s->rules[i].path = psb_text(c); }
	s->filter = psb_bytes(c); s->reaper = psb_bytes(c);
	s->exec = psb_text(c);
	s->argv = psb_texts(c); s->env = psb_texts(c);
	s->dir = psb_text(c);
	if (psb_u32(c) != 0x31425350 || c->p != c->end) c->bad = true;
	if (s->flags & ~(uint32_t)BOX_ALL || !absolute(s->exec) || !absolute(s->dir) || s->argv.n == 0) c->bad = true;
	if (s->filter.n % 8 || s->filter.n / 8 > MOST_INSTRUCTIONS || s->reaper.n % 8 || s->reaper.n / 8 > MOST_INSTRUCTIONS) c->bad = true;
	return !c->bad && fits(s);
}
