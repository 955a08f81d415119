// The stages between psb and the program, in C because they must cost next to nothing and because a forked Go runtime cannot run them.
//
//   psb (Go) --exec--> keeper --clone--> reaper (pid 1 of the box) --fork--> program
//
// keeper   outside the box: groups, id maps; ends the box when psb hangs up.
// reaper   builds the root, drops everything, starts the program, reaps, reports.
// program  tells READY, waits for GO, installs its filter, execve.
//
// psb's ends:  control (keeper: errors; reaper: events, signals)   start (program: READY, LISTENER, errors)
#ifndef PSB_STAGE2_H
#define PSB_STAGE2_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FD_SPEC = 3, FD_CONTROL = 4, FD_START = 5, FD_RULESET = 6, FD_FIRST_FREE = 7 };

enum { // flags word, see encode.go
	BOX_USER = 1 << 0, BOX_MOUNT = 1 << 1, BOX_PID = 1 << 2, BOX_NET = 1 << 3, BOX_IPC = 1 << 4, BOX_UTS = 1 << 5, BOX_CGROUP = 1 << 6,
	BOX_LATE_USER = 1 << 7, BOX_LOOPBACK = 1 << 8, BOX_LISTENER = 1 << 9, BOX_HOLD = 1 << 10, BOX_SUBREAPER = 1 << 11, BOX_LANDLOCK = 1 << 12,
	BOX_ALL = (1 << 13) - 1
};
enum { ACT_RECURSIVE = 1 << 0, ACT_READONLY = 1 << 1, ACT_NOEXEC = 1 << 2, ACT_DEV = 1 << 3, ACT_OPTIONAL = 1 << 4, ACT_IDMAP = 1 << 5, ACT_ALL = (1 << 6) - 1 };
enum op_kind { OP_DIR = 1, OP_FILE, OP_SYMLINK, OP_TMPFS, OP_BIND, OP_BIND_IN, OP_PROC, OP_DEVPTS, OP_MQUEUE, OP_READ_ONLY, OP_LAST = OP_READ_ONLY };

struct text { const char *s; uint32_t n; };
struct list { char **v; uint32_t n; }; // NULL-terminated
struct op {
	uint32_t kind, flags, mode, map_uid, map_gid;
	uint64_t size, dev, ino;
	struct text source, target, data;
	int userns; // id map's user namespace, -1 for none
};
struct rlimit_entry { uint32_t resource; uint64_t value; };
struct landlock_entry { uint64_t access; struct text path; };
struct spec {
	uint32_t flags, uid, gid, host_uid, host_gid;
	uint64_t ignored;
	struct text hostname, root, exec, dir, filter, reaper;
	struct list cgroup_procs, cgroup_dirs, argv, env;
	struct op *ops; uint32_t nops;
	struct rlimit_entry *rlimits; uint32_t nrlimits;
	struct landlock_entry *rules; uint32_t nrules;
	uint64_t mask; // signals blocked when psb's caller started it
};

enum message_kind { M_ERROR = 1, M_READY, M_LISTENER, M_STOPPED, M_CONTINUED, M_EXIT, M_GO = 16, M_TAKEN, M_SIGNAL };
struct message {
	uint32_t kind;
	int32_t a, b;
	uint32_t pad;
	uint64_t c, d, e;
	char text[216];
};

// decode: fills spec from the mapped blob; false when anything does not fit. Everything points into the blob or into memory it allocates.
bool psb_decode(const unsigned char *blob, size_t size, struct spec *out);

// control: one message; false when the other end is gone.
bool psb_send(int fd, const struct message *m);
bool psb_receive(int fd, struct message *m);
// fail tells psb "stage: cause" with errno and ends the process.
_Noreturn void psb_fail(int fd, const char *stage, const char *format, ...) __attribute__((format(printf, 3, 4)));

_Noreturn void psb_keeper(struct spec *s);
_Noreturn void psb_reaper(struct spec *s, int sync);
void psb_build_root(struct spec *s);
void psb_walls(struct spec *s, int sync);
void psb_filter_program(struct spec *s);
bool psb_install_filter(const struct text *program, unsigned flags, long *result);

#endif
