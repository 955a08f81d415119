// What it does to the process: reads /proc and the memory of the process whose call waits.
// Undone: nothing changes.
// Preconditions: ptrace access to that process (same user and dumpable, or its user namespace's owner).
// Called by: judges given to Supervise.
// Proven by: TestNotifyRoundTrip, TestMemory.

package seccomp

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Request is one call that waits for an answer.
//
// What its arguments point to is copied once: a second reading of the same place gives the first copy, so that a judge cannot
// look at one text and act on another. It is for one goroutine.
type Request struct {
	ID   uint64
	TID  int // thread, numbered in the supervisor's pid namespace; 0 = not visible from there
	Arch Arch
	Nr   int
	Name string // "" for a number nobody knows
	Args [6]uint64

	l      *Listener
	tgid   int
	copies map[place][]byte
}

type place struct {
	addr uint64
	n    int
	text bool
}

func (l *Listener) request(n sysNotif) *Request {
	return &Request{
		ID: n.ID, TID: int(n.PID), Arch: Arch(n.Arch), Nr: int(n.Nr), Name: Name(Arch(n.Arch), int(n.Nr)), Args: n.Args,
		l: l,
	}
}

// Valid tells whether the call still waits, see Listener.IDValid.
func (r *Request) Valid() bool { return r.l.IDValid(r.ID) }

// Answer answers the call a judge put off, see Answer.Later. ErrGone: nobody waits for it any more.
func (r *Request) Answer(a Answer) error { return r.l.Respond(r.ID, a) }

// Place puts a copy of psb's descriptor over one of the process's, see Listener.Place.
func (r *Request) Place(from int, at int32, closeOnExec bool) error {
	return r.l.Place(r.ID, from, at, closeOnExec)
}

// Give answers the call with a copy of psb's descriptor, see Listener.Give.
func (r *Request) Give(from int, closeOnExec bool) error { return r.l.Give(r.ID, from, closeOnExec) }

// TGID is the process of the thread, in the supervisor's pid namespace.
func (r *Request) TGID() (int, error) {
	if r.tgid != 0 {
		return r.tgid, nil
	}
	status, err := os.ReadFile("/proc/" + strconv.Itoa(r.TID) + "/status")
	if err != nil {
		return 0, fmt.Errorf("process of thread %d: %w", r.TID, err)
	}
	tgid, err := statusTgid(status)
	if err != nil {
		return 0, fmt.Errorf("process of thread %d: %w", r.TID, err)
	}
	if !r.Valid() {
		return 0, ErrGone
	}
	r.tgid = tgid
	return tgid, nil
}

func statusTgid(status []byte) (int, error) {
	for line := range bytes.Lines(status) {
		// The first line, Name, is the program's own choice but cannot hold a line break: the kernel escapes it.
		if v, ok := bytes.CutPrefix(line, []byte("Tgid:")); ok {
			return strconv.Atoi(string(bytes.TrimSpace(v)))
		}
	}
	return 0, fmt.Errorf("no Tgid in its status")
}

// Bytes copies n bytes at addr, all of them or an error. n is at most 64 KiB.
func (r *Request) Bytes(addr uint64, n int) ([]byte, error) {
	return r.copy(place{addr, n, false})
}

// Text copies the NUL-terminated text at addr, of at most limit bytes (4096 = the kernel's own for paths).
func (r *Request) Text(addr uint64, limit int) (string, error) {
	b, err := r.copy(place{addr, limit, true})
	return string(b), err
}

// Sockaddr copies and decodes the address argument of connect, bind or sendto, from its pointer and length.
func (r *Request) Sockaddr(addr, length uint64) (Sockaddr, error) {
	n := int32(length) // an int to the kernel
	if n < 0 || n > MaxSockaddr {
		return Sockaddr{}, fmt.Errorf("socket address of %d bytes", n)
	}
	b, err := r.Bytes(addr, int(n))
	if err != nil {
		return Sockaddr{}, err
	}
	return DecodeSockaddr(b)
}

func (r *Request) copy(p place) ([]byte, error) {
	const most = 64 << 10
	if p.n < 0 || p.n > most {
		return nil, fmt.Errorf("memory of thread %d: %d bytes asked for", r.TID, p.n)
	}
	if b, ok := r.copies[p]; ok {
		return b, nil
	}
	if r.TID == 0 {
		return nil, fmt.Errorf("memory of a thread outside this pid namespace")
	}
	b, err := readMemory(r.TID, p.addr, p.n, p.text)
	if err != nil {
		err = fmt.Errorf("memory of thread %d at %#x: %w", r.TID, p.addr, err)
	}
	// Only now is it known whose memory that was.
	if !r.Valid() {
		return nil, ErrGone
	}
	if err == nil {
		if r.copies == nil {
			r.copies = map[place][]byte{}
		}
		r.copies[p] = b
	}
	return b, err
}

// readMemory copies up to n bytes; text ends at its NUL, which is left out, and n bytes without one are an error.
//
// It reads page by page: process_vm_readv gives nothing of a range whose end is unmapped, and a text's limit often reaches
// past its page.
func readMemory(pid int, addr uint64, n int, text bool) ([]byte, error) {
	read := func(addr uint64, into []byte) (int, error) { return sysReadMemory(pid, addr, into) }
	page := uint64(os.Getpagesize())
	var out []byte
	var mem *os.File
	defer func() { mem.Close() }() // nil is fine
	for len(out) < n {
		at := addr + uint64(len(out))
		size := min(page-at%page, uint64(n-len(out)))
		chunk := make([]byte, size)
		got, err := read(at, chunk)
		if (err == unix.EPERM || err == unix.ENOSYS) && mem == nil {
			// A kernel without cross-memory attach, or an outer filter against it.
			var open error
			if mem, open = os.Open("/proc/" + strconv.Itoa(pid) + "/mem"); open != nil {
				return nil, open
			}
			read = func(addr uint64, into []byte) (int, error) { return mem.ReadAt(into, int64(addr)) }
			continue
		}
		if err != nil {
			return nil, err
		}
		chunk = chunk[:got]
		if end := bytes.IndexByte(chunk, 0); text && end >= 0 {
			return append(out, chunk[:end]...), nil
		}
		if got == 0 {
			return nil, unix.EFAULT
		}
		out = append(out, chunk...)
	}
	if text {
		return nil, unix.ENAMETOOLONG
	}
	return out, nil
}
