// Does to the process: reads the program's /proc, takes a duplicate of its socket and of its folders for a moment.
// Undone: the duplicates are closed when the call is answered.
// Preconditions: ptrace access to the program, which psb has as its parent and as the owner of its namespaces.
// Called by: call_linux.go, path_linux.go.
// Proved by: TestStatusOfCaller, TestOwnProcess, TestUnixSocketsOfTheBox.

package broker

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// caller is the thread whose connect waits, as its status says.
type caller struct {
	tid, tgid, inside int // inside: the process's number in the box
	uid, gid          uint32
	groups            []uint32
	signals           bool // one that the thread would take waits for it
}

func callerOf(tid int) (caller, error) {
	if tid == 0 {
		return caller{}, unix.ESRCH // outside psb's pid namespace
	}
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", tid))
	if err != nil {
		return caller{}, err
	}
	c, err := parseStatus(b)
	c.tid = tid
	return c, err
}

// parseStatus reads /proc/PID/status; Name, the first line, is the program's own choice but holds no line break.
func parseStatus(status []byte) (caller, error) {
	c := caller{}
	var pending, held uint64
	seen := 0
	for line := range bytes.Lines(status) {
		key, value, _ := strings.Cut(string(line), ":")
		f := strings.Fields(value)
		number := func(at, base int) (n uint64) {
			if at < len(f) {
				n, _ = strconv.ParseUint(f[at], base, 64)
			}
			return n
		}
		switch key {
		case "Tgid":
			c.tgid = int(number(0, 10))
			seen++
		case "NStgid":
			c.inside = int(number(len(f)-1, 10))
		case "Uid": // real, effective, saved, file system
			c.uid = uint32(number(1, 10))
			seen++
		case "Gid":
			c.gid = uint32(number(1, 10))
			seen++
		case "Groups":
			for i := range f {
				c.groups = append(c.groups, uint32(number(i, 10)))
			}
		case "SigPnd", "ShdPnd":
			pending |= number(0, 16)
		case "SigBlk", "SigIgn":
			held |= number(0, 16)
		}
	}
	c.signals = pending&^held != 0
	if seen != 3 || c.tgid == 0 {
		return c, fmt.Errorf("status without its ids")
	}
	return c, nil
}

// callers keeps a handle on the thread that called last: the next call is often its. A handle whose thread is gone leads to nothing, whatever
// has its number now. The zero callers has none.
type callers struct {
	mu    sync.Mutex
	tid   int
	pidfd int
}

// socket duplicates a descriptor of the calling thread: the same open file, so that what is connected is the program's own socket.
func (c *callers) socket(tid int, number int32) (int, error) {
	if tid == 0 {
		return -1, unix.ESRCH // outside psb's pid namespace
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tid == tid {
		fd, err := unix.PidfdGetfd(c.pidfd, int(number), 0)
		if err != unix.ESRCH {
			return fd, err
		}
	}
	c.close()
	pidfd, err := pidfdOf(tid)
	if err != nil {
		return -1, err
	}
	c.tid, c.pidfd = tid, pidfd
	return unix.PidfdGetfd(pidfd, int(number), 0)
}

func (c *callers) close() {
	if c.tid != 0 {
		unix.Close(c.pidfd)
		c.tid = 0
	}
}

func pidfdOf(tid int) (int, error) {
	pidfd, err := unix.PidfdOpen(tid, unix.O_EXCL) // PIDFD_THREAD, Linux 6.9: a thread may have a table of its own
	if err != unix.EINVAL {
		return pidfd, err
	}
	c, err := callerOf(tid)
	if err != nil {
		return -1, err
	}
	return unix.PidfdOpen(c.tgid, 0)
}

// closesOnExec reads whether a descriptor of the thread goes at an execve(2).
func closesOnExec(tid int, number int32) bool {
	fd, err := unix.Open(fmt.Sprintf("/proc/%d/fdinfo/%d", tid, number), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return true
	}
	defer unix.Close(fd)
	var b [256]byte // the flags are its second line
	n, err := unix.Read(fd, b[:])
	if err != nil {
		return true
	}
	for line := range bytes.Lines(b[:n]) {
		if v, ok := bytes.CutPrefix(line, []byte("flags:")); ok {
			flags, err := strconv.ParseUint(string(bytes.TrimSpace(v)), 8, 64)
			return err != nil || flags&unix.O_CLOEXEC != 0
		}
	}
	return true
}

// as runs f with the program's ids: what it may not connect to by itself it may not through psb, and the peer sees who it is. Only a psb
// that is root has other ids than its box.
func (c caller) as(f func() error) error {
	if uint32(unix.Geteuid()) == c.uid && uint32(unix.Getegid()) == c.gid {
		return f()
	}
	end := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine, and its ids with it
		if unix.Gettid() == unix.Getpid() {
			// The main thread never ends, and all that is asked about psb itself is answered for it. Keep it busy and take another.
			defer runtime.UnlockOSThread()
			end <- c.as(f)
			return
		}
		if err := wearIDs(c.uid, c.gid, c.groups); err != nil {
			end <- unix.EACCES
			return
		}
		end <- f()
	}()
	return <-end
}

// walk is where a path of the program begins.
type walk struct {
	root int    // the program's root
	base int    // the folder or object the rest is relative to; -1 for the root
	text string // the name of base from the root, as far as the kernel tells
	rest string
}

func (s walk) close() {
	unix.Close(s.root)
	if s.base >= 0 {
		unix.Close(s.base)
	}
}

// walk opens what a path begins at, while psb's own ids may.
func (c caller) walk(path string) (walk, error) {
	s := walk{base: -1, rest: path}
	link, rest := ownProcess(path, c)
	if link == "" && !strings.HasPrefix(path, "/") {
		link, rest = fmt.Sprintf("/proc/%d/cwd", c.tid), path
	}
	var err error
	if s.root, err = unix.Open(fmt.Sprintf("/proc/%d/root", c.tid), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err != nil {
		return s, err
	}
	if link == "" {
		return s, nil
	}
	if s.base, err = unix.Open(link, unix.O_PATH|unix.O_CLOEXEC, 0); err != nil {
		unix.Close(s.root)
		return s, err
	}
	s.text, _ = os.Readlink(link)
	s.rest = rest
	return s, nil
}

var ownLink = regexp.MustCompile(`(?s)^/+proc/+(self|thread-self|[1-9][0-9]*)/+(cwd|root|fd/+[0-9]+)(?:/+(.*))?$`)

// ownProcess finds the links of the program's own process at a path's head: the kernel resolves "self" for who asks, which is psb here. link
// is the same link in psb's /proc, "" where there is none.
func ownProcess(path string, c caller) (link, rest string) {
	m := ownLink.FindStringSubmatch(path)
	if m == nil {
		return "", ""
	}
	pid := c.tid // the table and the folder of the thread
	if m[1] != "thread-self" {
		pid = c.tgid
		if m[1] != "self" && m[1] != strconv.Itoa(c.inside) {
			return "", ""
		}
	}
	rest = m[3]
	if rest == "" && strings.HasSuffix(path, "/") {
		rest = "."
	}
	return fmt.Sprintf("/proc/%d/%s", pid, m[2]), rest
}
