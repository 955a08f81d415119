// Does to the process: under the name psb-init it becomes a stage and never returns to Go; otherwise it reads dispositions and descriptors.
// Undone: not.
// Preconditions: runs as a constructor, before the Go runtime starts, single-threaded.
// Called by: the C library's start-up code.
// Proved by: TestEntryOnlyByName, TestSignals, TestClosedStdio.
#define _GNU_SOURCE
#include "prepared_linux.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

uint64_t psb_ignored_at_start, psb_blocked_at_start;
uint32_t psb_closed_at_start;

static uint64_t ignored(void) {
	uint64_t set = 0;
	for (int i = 1; i <= 64; i++) {
		struct sigaction a;
		if (sigaction(i, NULL, &a) == 0 && a.sa_handler == SIG_IGN) set |= (uint64_t)1 << (i - 1);
	}
	return set;
}

static bool is_socket(int fd) {
	struct stat st;
	return fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode);
}

// What psb's caller left closed stays closed in the program. Until then something harmless holds the number, so that no descriptor of ours
// gets it; it closes itself at the execve.
static void hold_closed(void) {
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 && fcntl(FD_SPEC, F_DUPFD_CLOEXEC, fd) != fd) psb_fail(FD_CONTROL, "namespaces", "hold descriptor %d", fd);
}

static _Noreturn void stage(void) {
	static struct spec spec;
	struct stat st;
	sigset_t all;
	// An ignored SIGCHLD would take the children's ends away from wait(2).
	struct sigaction plain = {.sa_handler = SIG_DFL};
	sigaction(SIGCHLD, &plain, NULL);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	if (!is_socket(FD_CONTROL) || !is_socket(FD_START) || fstat(FD_SPEC, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size <= 0) _exit(125);
	void *blob = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, FD_SPEC, 0);
	if (blob == MAP_FAILED) psb_fail(FD_CONTROL, "decode", "mmap of %lld bytes", (long long)st.st_size);
	if (!psb_decode(blob, (size_t)st.st_size, &spec)) {
		errno = EINVAL;
		psb_fail(FD_CONTROL, "decode", "BUG: the encoded launch does not fit");
	}
	hold_closed();
	close(FD_SPEC);
	// What psb's caller left open for psb is nobody's business from here on.
	if (syscall(SYS_close_range, spec.flags & BOX_LANDLOCK ? FD_FIRST_FREE : FD_RULESET, ~0U, 0) != 0) psb_fail(FD_CONTROL, "namespaces", "close_range");
	psb_keeper(&spec);
}

__attribute__((constructor)) static void psb_entry(int argc, char **argv) {
	if (argc == 1 && strcmp(argv[0], "psb-init") == 0) stage();
	psb_enough();
	sigset_t blocked;
	psb_time(T_CALLED);
	psb_ignored_at_start = ignored();
	sigprocmask(SIG_BLOCK, NULL, &blocked);
	for (int i = 1; i <= 64; i++) if (sigismember(&blocked, i) == 1) psb_blocked_at_start |= (uint64_t)1 << (i - 1);
	for (int fd = 0; fd < 3; fd++) if (fcntl(fd, F_GETFD) < 0) psb_closed_at_start |= 1U << fd;
	if (!psb_closed_at_start) psb_prepared(argc, argv);
}
