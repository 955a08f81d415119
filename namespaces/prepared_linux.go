// Does to the process: takes over a box that the constructor started; by itself it only reads what the constructor saw.
// Undone: as Start's.
// Preconditions: Handed is called once, at the start.
// Called by: cmd/psb.
// Proved by: TestPrepared, TestPreparedHandsOver.

package namespaces

/*
#include "prepared_linux.h"
extern struct running psb_handed;
extern struct text psb_handed_own;
extern char psb_prepared_names[MOST_WORDS + 1][65];

static int psb_reads_back(const unsigned char *file, size_t size, const unsigned char *digest) {
	struct prepared p;
	return psb_prepared_decode(file, size, digest, &p);
}

*/
import "C"

import (
	"encoding/hex"
	"os"
)

// Running is a box that was started from a prepared launch, with its program, before Go was.
type Running struct {
	Box      *Box
	Listener *os.File // of the program's filter; nil without one
	Group    string   // name of its control group, "" without one
	Own      []byte   // as in Prepared
}

// Handed gives the running box that the constructor left to Go; nil when there is none, which is an ordinary start.
func Handed() *Running {
	h := &C.psb_handed
	if h.control == 0 {
		return nil
	}
	b := &Box{keeper: int(h.keeper), control: int(h.control), start: int(h.start), first: int(h.first), program: int(h.program), pids: true,
		jobs: make(chan Job, 4), made: make(chan madeSocket, 1), paused: make(chan struct{}, 1), ended: make(chan struct{}), done: make(chan struct{})}
	r := &Running{Box: b, Group: C.GoString(&h.group[0]), Own: []byte(C.GoStringN(C.psb_handed_own.s, C.int(C.psb_handed_own.n)))}
	b.keepNetwork([]int{int(h.network[0]), int(h.network[1])})
	if h.listener >= 0 {
		r.Listener = os.NewFile(uintptr(h.listener), "seccomp listener")
	}
	go b.watch()
	return r
}

// PreparedName is the name of the file that a start with the same first words of the command line, the command's own name included, and
// everything else of the process the same, looks for; "" when there can be none. It is the digest in hex.
func PreparedName(words int) string {
	if words < 1 || words > C.MOST_WORDS {
		return ""
	}
	return C.GoString(&C.psb_prepared_names[words-1][0])
}

// PreparedFits reports whether a start would take the file now: it can be read back, and nothing it rests on has changed.
func PreparedFits(name string, file []byte) bool {
	digest, err := hex.DecodeString(name)
	if err != nil || len(digest) != 32 || len(file) == 0 {
		return false
	}
	return C.psb_reads_back((*C.uchar)(&file[0]), C.size_t(len(file)), (*C.uchar)(&digest[0])) != 0
}

// FreeSignals gives the calling thread the signals back that the constructor held for Go.
func FreeSignals() { C.psb_free_signals() }
