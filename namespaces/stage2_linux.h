// The stages between psb and the program, in C because they must cost next to nothing and because a forked Go runtime cannot run them.
//
//   psb (Go) --exec--> keeper --clone--> reaper (pid 1 of the box) --clone--> program
//
// keeper   outside the box: groups, id maps; ends the box when psb hangs up.
// reaper   builds the root, drops everything, starts the program, reaps, reports; ends when psb or the keeper hangs up.
// program  tells READY, waits for GO, installs its filter, execve.
//
// psb's ends:  control (keeper: BOX, errors; reaper: events, signals, MAKE and SOCKET)   start (reaper: NET, UPPER; program: READY, LISTENER, errors)
#ifndef PSB_STAGE2_H
#define PSB_STAGE2_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

enum { FD_SPEC = 3, FD_CONTROL = 4, FD_START = 5, FD_RULESET = 6, FD_FIRST_FREE = 7 };

enum { // flags word, see encode.go
	BOX_USER = 1 << 0, BOX_MOUNT = 1 << 1, BOX_PID = 1 << 2, BOX_NET = 1 << 3, BOX_IPC = 1 << 4, BOX_UTS = 1 << 5, BOX_CGROUP = 1 << 6,
	BOX_LATE_USER = 1 << 7, BOX_LOOPBACK = 1 << 8, BOX_LISTENER = 1 << 9, BOX_HOLD = 1 << 10, BOX_SUBREAPER = 1 << 11, BOX_LANDLOCK = 1 << 12, BOX_AWAIT = 1 << 13,
	BOX_ALL = (1 << 14) - 1
};
enum { ACT_RECURSIVE = 1 << 0, ACT_READONLY = 1 << 1, ACT_NOEXEC = 1 << 2, ACT_DEV = 1 << 3, ACT_OPTIONAL = 1 << 4, ACT_IDMAP = 1 << 5, ACT_USERXATTR = 1 << 6, ACT_ALL = (1 << 7) - 1 };
enum op_kind { OP_DIR = 1, OP_FILE, OP_SYMLINK, OP_TMPFS, OP_BIND, OP_BIND_IN, OP_PROC, OP_DEVPTS, OP_MQUEUE, OP_READ_ONLY, OP_OVERLAY, OP_LAST = OP_OVERLAY };
enum { MOST_INSTRUCTIONS = 4096 }; // BPF_MAXINSNS

struct text { const char *s; uint32_t n; };
struct list { char **v; uint32_t n; }; // NULL-terminated
struct op {
	uint32_t kind, flags, mode, map_uid, map_gid;
	uint64_t size, modified, dev, ino;
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
	uint64_t upper; // bytes of the file system that overlays write to
	struct rlimit_entry *rlimits; uint32_t nrlimits;
	struct landlock_entry *rules; uint32_t nrules;
	uint64_t mask; // signals the program starts with blocked
};

enum message_kind { M_ERROR = 1, M_READY, M_LISTENER, M_STOPPED, M_CONTINUED, M_EXIT, M_BOX, M_NET, M_SOCKET, M_PAUSED, M_UPPER, M_GO = 16, M_TAKEN, M_SIGNAL, M_ALIVE, M_MAKE, M_PAUSE, M_RESUME };
struct message {
	uint32_t kind;
	int32_t a, b;
	uint32_t pad;
	uint64_t c, d, e;
	char text[216];
};

// cursor: reads what encode.go writes; what does not fit makes it bad, and everything after that is 0 or "".
struct cursor { const unsigned char *p, *end; bool bad; };
uint32_t psb_u32(struct cursor *c);
uint64_t psb_u64(struct cursor *c);
struct text psb_bytes(struct cursor *c); // length, bytes, NUL
struct text psb_text(struct cursor *c);  // bytes without a NUL among them
void *psb_items(struct cursor *c, uint32_t *n, size_t least, size_t size); // a count, and memory for so many items of at least `least` bytes
struct list psb_texts(struct cursor *c);

// decode: fills spec from the mapped blob; false when anything does not fit. Everything points into the blob or into memory it allocates.
bool psb_decode(const unsigned char *blob, size_t size, struct spec *out);

// times: when the stages were where (CLOCK_MONOTONIC, ns); READY carries them in its text.
enum { T_CALLED, T_KEEPER, T_CLONE, T_FIRST, T_ROOT, T_WALLS, T_ALL };
extern uint64_t psb_times[T_ALL];
void psb_time(int at);

// limits: ends a psb that its limits would not let live.
void psb_enough(void);

// control: one message; false when the other end is gone.
bool psb_send(int fd, const struct message *m);
bool psb_receive(int fd, struct message *m);
bool psb_send_descriptors(int fd, const struct message *m, const int *list, size_t count); // at most 2
// fail tells psb "stage: cause" with errno and ends the process.
_Noreturn void psb_fail(int fd, const char *stage, const char *format, ...) __attribute__((format(printf, 3, 4)));

// files: put writes words into a file that is there, or fails as stage.
void psb_put(const char *stage, const char *file, const char *words);

// groups: psb_clone_into clones into the v2 groups where the kernel can; psb_join_v2 writes pid into those it did not; psb_join_v1 is for the process itself.
pid_t psb_clone_into(struct spec *s, unsigned long flags, int *pidfd, bool *joined);
void psb_join_v2(struct spec *s, pid_t pid);
void psb_join_v1(struct spec *s);

// close: psb_close lets go of a descriptor, which is closed at the latest by psb_closed.
void psb_close(int fd);
void psb_closed(void);

// tree: processes. psb_clone is a fork with flags; psb_children opens the list that psb_kill_children ends, until nobody is left.
pid_t psb_clone(unsigned long flags, int *pidfd);
int psb_children(void);
void psb_kill_children(int list, pid_t known);
void psb_die_with_keeper(struct spec *s, int life);

// root: psb_open resolves without any link; root is the folder that "/" means, or -1 for the process's own.
int psb_open(int root, const char *path, int flags);
int psb_parent(const char *path);         // folder of a target in the new root, made where missing; valid until the next call
void psb_covered(const char *target);     // a mount on target may have covered what psb_parent remembers
bool psb_parent_is_own(void);             // whether the folder that psb_parent gave last is on a file system of our own
const char *psb_leaf(const char *path);
void psb_own(int mount);                  // a file system of our own: in it missing targets may be made
void psb_must_be_own(int fd, const char *path);
void psb_build_root(struct spec *s);

// mounts: the acts that mount, at targets below root, from sources below old.
void psb_mount(struct op *o, int old, int root);
void psb_attributes(int mount, struct op *o);                   // of a detached mount: the op's flags and id map
void psb_attach(int mount, const char *target, bool is_dir);    // a missing target is made
int psb_object(struct op *o, int from, struct stat *st);        // the op's source, which must be the object psb looked at

// overlay: throw-away layers. Between psb_upper and psb_build_root's end they can be mounted; psb_hand_upper gives psb what they hold.
void psb_upper(struct spec *s);
void psb_overlay(struct op *o, int old);
void psb_hand_upper(void);

// stages
_Noreturn void psb_keeper(struct spec *s);
_Noreturn void psb_reaper(struct spec *s, int life);
_Noreturn void psb_program(struct spec *s, int gate);
void psb_walls(struct spec *s, int life);
bool psb_install_filter(const struct text *program, unsigned flags, long *result);

#endif
