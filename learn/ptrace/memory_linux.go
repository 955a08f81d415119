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
	buf := make([]byte, unix.PathMax)
	n, ok := readWords(tid, addr, buf)
	return string(buf[:n]), ok
}

// readWords reads a C string into buf and gives its length; ok is false when it cannot be read to its end.
func readWords(tid int, addr uint64, buf []byte) (length int, ok bool) {
	if addr == 0 {
		return 0, false
	}
	// Most paths are short: a first small read saves copying the page.
	for _, size := range []int{min(256, len(buf)), len(buf)} {
		n := readMemory(tid, addr, buf[:size])
		if i := bytes.IndexByte(buf[:n], 0); i >= 0 {
			return i, true
		}
		if n < size {
			return 0, false
		}
	}
	return 0, false
}

func readUint64(tid int, addr uint64) (uint64, bool) {
	var buf [8]byte
	if addr == 0 || readMemory(tid, addr, buf[:]) != len(buf) {
		return 0, false
	}
	return binary.NativeEndian.Uint64(buf[:]), true
}
