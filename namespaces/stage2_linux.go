// Does to the process: links the stages (C); by itself it only reads what the constructor saw.
// Undone: nothing to undo.
// Preconditions: none.
// Called by: the linker; IgnoredAtStart by cmd/psb.
// Proved by: TestEntryOnlyByName, TestSignals, TestClosedStdio.

package namespaces

/*
#cgo CFLAGS: -O2 -Wall -Wextra -Wno-unused-parameter -std=gnu11
#include <stdint.h>
extern uint64_t psb_ignored_at_start, psb_blocked_at_start;
extern uint32_t psb_closed_at_start;
extern uint64_t psb_times[6];
*/
import "C"

// StageName is the argv[0] under which this binary becomes the keeper instead of psb.
const StageName = "psb-init"

// IgnoredAtStart gives the signals that were ignored when this process started, bit n-1 for signal n: the Go runtime replaces most of
// them, and a program started by psb must find what psb's caller set (nohup(1)).
func IgnoredAtStart() uint64 { return uint64(C.psb_ignored_at_start) }

// CalledAt is when this process's constructor began, in nanoseconds of CLOCK_MONOTONIC: about when it was started.
func CalledAt() int64 { return int64(C.psb_times[0]) }

// closedAtStart says whether this process was started with descriptor fd (0, 1 or 2) closed: the Go runtime opens /dev/null in its place.
func closedAtStart(fd uintptr) bool { return fd < 3 && C.psb_closed_at_start>>fd&1 != 0 }

// BlockedAtStart gives the signals that were blocked when this process started, bit n-1 for signal n: the Go runtime unblocks some.
func BlockedAtStart() uint64 { return uint64(C.psb_blocked_at_start) }
