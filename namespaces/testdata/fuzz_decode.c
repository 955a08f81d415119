// Feeds psb_decode, built with sanitizers, launches nobody encoded: mutations of those on its command line, guided by the edges of the decoder
// that they reach (-fsanitize-coverage=trace-pc). The launch at work stands in the file named first, behind its length of 8 bytes, so that a
// finding stays there.
//
//   fuzz_decode FINDING SEED EXECUTIONS SECONDS BLOB…      ends at whichever of the two bounds comes first
#include "../stage2_linux.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 1 << 14, KEPT = 4096, EDGES = 1 << 12 };

static unsigned char seen[EDGES], now[EDGES];
static uintptr_t last;

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void) {
	uintptr_t at = (uintptr_t)__builtin_return_address(0);
	now[((at ^ (at >> 13)) ^ last) % EDGES] = 1;
	last = at >> 1;
}

static uint64_t state;
static uint64_t roll(uint64_t n) { // xorshift
	state ^= state << 13; state ^= state >> 7; state ^= state << 17;
	return n ? state % n : state;
}

static struct { unsigned char *p; size_t n; } kept[KEPT];
static size_t nkept;
static unsigned long long accepted;
static volatile unsigned char sink;

static void keep(const unsigned char *p, size_t n) {
	size_t at = nkept < KEPT ? nkept++ : roll(KEPT);
	free(kept[at].p);
	kept[at].p = malloc(n + 1);
	memcpy(kept[at].p, p, n);
	kept[at].n = n;
}

static void whole(struct text t) { // every byte, and the NUL behind it
	for (uint32_t i = 0; i < t.n; i++) sink ^= (unsigned char)t.s[i];
	if (t.s[t.n] != 0) abort();
}

static void names(struct list l) {
	for (uint32_t i = 0; i < l.n; i++) sink ^= (unsigned char)strlen(l.v[i]);
	if (l.v[l.n]) abort();
}

// use reads all that a stage would.
static void use(struct spec *s) {
	whole(s->hostname); whole(s->root); whole(s->exec); whole(s->dir); whole(s->filter); whole(s->reaper);
	names(s->cgroup_procs); names(s->cgroup_dirs); names(s->argv); names(s->env);
	for (uint32_t i = 0; i < s->nops; i++) {
		struct op *o = &s->ops[i];
		whole(o->source); whole(o->target); whole(o->data);
		if (o->target.s[0] != '/' || strstr(o->target.s, "/../") || strstr(o->target.s, "//") || o->userns != -1) abort();
	}
	for (uint32_t i = 0; i < s->nrlimits; i++) sink ^= (unsigned char)s->rlimits[i].value;
	for (uint32_t i = 0; i < s->nrules; i++) whole(s->rules[i].path);
	if (s->exec.s[0] != '/' || s->dir.s[0] != '/' || s->argv.n == 0 || s->filter.n % 8 || (s->nops && !(s->flags & BOX_MOUNT))) abort();
}

// once decodes a copy that is exactly as long as it says.
static bool once(const unsigned char *p, size_t n) {
	struct spec s;
	unsigned char *copy = malloc(n ? n : 1);
	bool fresh = false;
	memcpy(copy, p, n);
	memset(now, 0, sizeof now);
	last = 0;
	if (psb_decode(copy, n, &s)) {
		accepted++;
		use(&s);
	}
	free(s.cgroup_procs.v); free(s.cgroup_dirs.v); free(s.argv.v); free(s.env.v); free(s.ops); free(s.rlimits); free(s.rules);
	free(copy);
	for (size_t i = 0; i < EDGES; i++) if (now[i] && !seen[i]) { seen[i] = 1; fresh = true; }
	return fresh;
}

static size_t mutate(unsigned char *b, size_t n) {
	static const uint32_t odd[] = {0, 1, 2, 0x7f, 0x80, 0xff, 0x100, 4096, 4097, 32768, 1U << 30, 1U << 31, ~0U, ~0U - 1};
	for (uint64_t times = 1 + roll(4); times > 0; times--) {
		size_t at = n ? roll(n) : 0;
		uint32_t v = odd[roll(sizeof odd / sizeof *odd)];
		size_t k = 1 + roll(32);
		switch (roll(8)) {
		case 0: if (n) b[at] ^= (unsigned char)(1 << roll(8)); break;
		case 1: if (n) b[at] = (unsigned char)roll(256); break;
		case 2: if (at + 4 <= n) memcpy(b + at, &v, 4); break;
		case 3: if (at + 4 <= n) { memcpy(&v, b + at, 4); v += (uint32_t)roll(9) - 4; memcpy(b + at, &v, 4); } break;
		case 4: n = roll(n + 1); break;
		case 5: if (at + k <= n) { memmove(b + at, b + at + k, n - at - k); n -= k; } break;
		case 6: if (n + k <= MOST) { memmove(b + at + k, b + at, n - at); for (size_t i = 0; i < k; i++) b[at + i] = (unsigned char)(roll(2) ? 0 : roll(256)); n += k; } break;
		case 7: { // the end of another one
			size_t o = roll(nkept), from = roll(kept[o].n + 1), rest = kept[o].n - from;
			if (at + rest <= MOST) { memcpy(b + at, kept[o].p + from, rest); n = at + rest; }
		}
		}
	}
	return n;
}

int main(int argc, char **argv) {
	if (argc < 6) return 2;
	state = strtoull(argv[2], NULL, 10) | 1;
	unsigned long long most = strtoull(argv[3], NULL, 10), done = 0;
	time_t end = time(NULL) + atol(argv[4]);
	int fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || ftruncate(fd, 8 + MOST) != 0) { perror(argv[1]); return 2; }
	unsigned char *page = mmap(NULL, 8 + MOST, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), *b = page + 8;
	if (page == MAP_FAILED) { perror("mmap"); return 2; }
	for (int i = 5; i < argc; i++) {
		FILE *f = fopen(argv[i], "rb");
		if (!f) { perror(argv[i]); return 2; }
		uint64_t n = fread(b, 1, MOST, f);
		fclose(f);
		memcpy(page, &n, 8);
		once(b, n);
		keep(b, n);
	}
	if (accepted == 0) { fprintf(stderr, "no seed is a launch\n"); return 2; }
	for (; done < most && (done % 1024 || time(NULL) < end); done++) {
		size_t from = roll(nkept);
		memcpy(b, kept[from].p, kept[from].n);
		uint64_t n = mutate(b, kept[from].n);
		memcpy(page, &n, 8);
		if (once(b, n)) keep(b, n);
	}
	unlink(argv[1]);
	size_t edges = 0;
	for (size_t i = 0; i < EDGES; i++) edges += seen[i];
	printf("%llu executions, %llu accepted, %zu edges, %zu kept\n", done, accepted, edges, nkept);
	return 0;
}
