package ptrace

// Reading a traced thread's arguments.
//
// Does to the process: nothing, it reads memory.
// Can it be undone: nothing to undo.
// Preconditions: the thread is stopped; its memory may change under another thread, so what is read explains and decides nothing.
// Called by: accesses_linux.go, sockets_linux.go.
// Proved by: TestUnreadableMemory.

import (
	"bytes"
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// readString reads a C string of at most PATH_MAX bytes; ok is false when it cannot be read to its end.
func readString(tid int, addr uint64) (s string, ok bool) {
	if addr == 0 {
		return "", false
	}
	var buf [unix.PathMax]byte
	// Most paths are short: a first small read, up to the end of the page, saves copying the page.
	const page = 4096
	for _, size := range []int{min(256, page-int(addr%page)), len(buf)} {
		n := readMemory(tid, addr, buf[:size])
		if i := bytes.IndexByte(buf[:n], 0); i >= 0 {
			return string(buf[:i]), true
		}
		if n < size {
			return "", false
		}
	}
	return "", false
}

func readUint64(tid int, addr uint64) (uint64, bool) {
	var buf [8]byte
	if addr == 0 || readMemory(tid, addr, buf[:]) != len(buf) {
		return 0, false
	}
	return binary.NativeEndian.Uint64(buf[:]), true
}
