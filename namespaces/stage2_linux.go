// Does to the process: links the stages (C); by itself it only reads what the constructor saw.
// Undone: nothing to undo.
// Preconditions: none.
// Called by: the linker; IgnoredAtStart by cmd/psb.
// Proved by: TestEntryOnlyByName.

package namespaces

/*
#cgo CFLAGS: -O2 -Wall -Wextra -std=gnu11
#include <stdint.h>
extern uint64_t psb_ignored_at_start;
*/
import "C"

// StageName is the argv[0] under which this binary becomes the keeper instead of psb.
const StageName = "psb-init"

// IgnoredAtStart gives the signals that were ignored when this process started, bit n-1 for signal n: the Go runtime replaces most of
// them, and a program started by psb must find what psb's caller set (nohup(1)).
func IgnoredAtStart() uint64 { return uint64(C.psb_ignored_at_start) }
