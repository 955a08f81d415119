// A prepared launch is what an earlier start of the same command worked out, kept in psb's own folder and used again while nothing it rests
// on has changed. It is used before the Go runtime starts, in C, and most runs end there:
//
//   constructor: who asks (identity) → a file of that name? → does everything it looked at still look the same? → start → watch → exit
//
// At the first thing that needs more than that (a call to judge, a signal, a stop, a limit that was reached) the running box is handed to
// Go as it is. Whatever does not fit, fails or has changed before the program runs leads to the ordinary start, which explains it.
#ifndef PSB_PREPARED_H
#define PSB_PREPARED_H

#include "stage2_linux.h"
#include <sys/stat.h>

enum { PREPARED_MAGIC = 0x50425350, PREPARED_VERSION = 1, MOST_WORDS = 24 };
enum { PREPARED_GO = 1 << 0, PREPARED_LANDLOCK = 1 << 1 }; // see prepared.go

extern uint64_t psb_ignored_at_start, psb_blocked_at_start; // entry_linux.c

// digest: SHA-256.
struct digest { uint32_t h[8]; uint64_t n; unsigned char buf[64]; };
void psb_digest_start(struct digest *d);
void psb_digest_add(struct digest *d, const void *data, size_t n);
void psb_digest_end(struct digest d, unsigned char out[32]); // of a copy: adding may go on

// identity: adds everything a plan rests on that is no file: binary, kernel, ids, limits, working folder, environment.
bool psb_identity(struct digest *d);
void psb_identity_word(struct digest *d, const char *word); // one more word of the command line

// unchanged: whether every object still looks as it did; reads the list off the cursor.
bool psb_unchanged(struct cursor *c);

// prepared: one decoded file.
struct prepared {
	uint32_t flags, least;              // least: so many words of the command line follow the known ones, or more
	uint64_t fs, net, scoped, stdio[3]; // Landlock: what is handled; rights on a standard descriptor's own file, by access mode
	struct text group, refusals;        // group: what stands for the group's name; refusals: the file that says whether processes were refused
	struct text head, tail;             // of the encoded launch, before argv and after env
	struct list argv, env, watched;     // env: NAME=value as it is, or NAME= with the caller's value
	const unsigned char *from_caller;   // one byte for each of env
	struct cursor acts;                 // on groups
	uint32_t nacts;
	struct text own;                    // for Go
	char **command;                     // psb's own command line
};

// running: a box that the program runs in.
struct running {
	int control, start, listener, network[2], first; // closed as one list
	pid_t keeper, program;
	char group[64];
};

bool psb_prepared_decode(const unsigned char *file, size_t size, const unsigned char digest[32], struct prepared *p);
// start: a running program, or false when nothing runs and nothing is left.
bool psb_prepared_start(struct prepared *p, char **words, uint32_t nwords, struct running *r);
void psb_prepared_stop(struct prepared *p, struct running *r);
// watch: ends the process with the program's status, or returns when Go has to go on.
void psb_prepared_watch(struct prepared *p, struct running *r);
// replaced: a text with the group's place holder in its stead; valid until the next call.
const char *psb_prepared_path(struct prepared *p, struct running *r, const char *text);

void psb_free_signals(void); // the caller's mask again, for the calling thread
void psb_prepared(int argc, char **argv);

#endif
