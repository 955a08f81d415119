// Does to the process: under the name psb-init it becomes a stage and never returns to Go; otherwise it reads the signal dispositions.
// Undone: not.
// Preconditions: runs as a constructor, before the Go runtime starts, single-threaded.
// Called by: the C library's start-up code.
// Proved by: TestEntryOnlyByName, TestExitStatus.
#include "stage2_linux.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

uint64_t psb_ignored_at_start;

static uint64_t ignored(void) {
	uint64_t set = 0;
	for (int i = 1; i < 32; i++) {
		struct sigaction a;
		if (sigaction(i, NULL, &a) == 0 && a.sa_handler == SIG_IGN) set |= (uint64_t)1 << (i - 1);
	}
	return set;
}

static bool is_socket(int fd) {
	struct stat st;
	return fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode);
}

__attribute__((constructor)) static void psb_entry(int argc, char **argv, char **envp) {
	(void)envp;
	if (argc != 1 || strcmp(argv[0], "psb-init") != 0) {
		psb_ignored_at_start = ignored();
		return;
	}
	// From here on the process is a stage and must not come back, whatever happens.
	struct stat st;
	static struct spec spec;
	sigset_t all, before;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	if (!is_socket(FD_CONTROL) || !is_socket(FD_START) || fstat(FD_SPEC, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size <= 0) _exit(125);
	void *blob = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, FD_SPEC, 0);
	if (blob == MAP_FAILED) psb_fail(FD_CONTROL, "decode", "mmap of %lld bytes", (long long)st.st_size);
	if (!psb_decode(blob, (size_t)st.st_size, &spec)) { errno = EINVAL; psb_fail(FD_CONTROL, "decode", "BUG: the encoded launch does not fit"); }
	for (int i = 1; i < 32; i++) if (sigismember(&before, i) == 1) spec.mask |= (uint64_t)1 << (i - 1);
	close(FD_SPEC);
	psb_keeper(&spec);
}
