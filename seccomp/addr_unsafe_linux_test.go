// What it does to the process: nothing; names an address.
// Undone: nothing to undo.
// Preconditions: memory that Go does not move.
// Called by: TestMemory.
// Proven by: TestMemory.

package seccomp

import "unsafe"

func addrOf(b []byte) uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }
