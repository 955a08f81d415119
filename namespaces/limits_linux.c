// Does to the process: reads its limits; where the Go runtime could not even say what it lacks, says it and ends the process.
// Undone: not.
// Preconditions: runs in the constructor, single-threaded, in psb and not in a stage.
// Called by: entry_linux.c.
// Proved by: TestFaults.
#include "stage2_linux.h"
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

// What psb takes on two processors, with room. Below it the runtime dies with a trace of its threads, or a stage fails half-way.
static const struct { __rlimit_resource_t resource; rlim_t least; const char *what, *option; bool root; } needs[] = {
	{RLIMIT_NOFILE, 32, "open files", "-n", true},
	{RLIMIT_AS, (rlim_t)1 << 30, "address space", "-v", true},
	{RLIMIT_DATA, (rlim_t)256 << 20, "data", "-d", true},
	{RLIMIT_FSIZE, (rlim_t)1 << 20, "file size", "-f", true},
	{RLIMIT_NPROC, 16, "processes", "-u", false}, // root is not held by it
};

void psb_enough(void) {
	for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
		struct rlimit r;
		if (getrlimit(needs[i].resource, &r) != 0 || r.rlim_cur >= needs[i].least || (!needs[i].root && geteuid() == 0)) continue;
		dprintf(2, "psb: the limit on %s (ulimit %s) is %llu, and psb needs %llu\n", needs[i].what, needs[i].option, (unsigned long long)r.rlim_cur,
			(unsigned long long)needs[i].least);
		_exit(125);
	}
}
