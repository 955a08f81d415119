package ptrace

// Facts of a thread from /proc.
//
// Does to the process: nothing, it reads.
// Can it be undone: nothing to undo.
// Preconditions: /proc shows this process's own pid namespace.
// Called by: tracer_linux.go.
// Proved by: TestExecInThread, TestPrograms.

import (
	"bytes"
	"strconv"

	"golang.org/x/sys/unix"
)

// status is what /proc/TID/status says of a thread; zero when it is gone.
type status struct {
	tgid   int // its process
	ppid   int // that one's parent
	nstgid int // its process as it sees itself, in its own pid namespace
}

func statusOf(tid int) (s status) {
	// Without os.File, whose poller takes longer than the read. What is asked for stands at the beginning.
	fd, err := unix.Open("/proc/"+strconv.Itoa(tid)+"/status", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return s
	}
	defer unix.Close(fd)
	var text [4096]byte
	n, err := unix.Read(fd, text[:])
	if err != nil {
		return s
	}
	for line := range bytes.Lines(text[:n]) {
		name, value, _ := bytes.Cut(line, []byte(":"))
		var to *int
		switch string(name) {
		case "Tgid":
			to = &s.tgid
		case "PPid":
			to = &s.ppid
		case "NStgid": // one for each pid namespace, the thread's own last
			to = &s.nstgid
		default:
			continue
		}
		if words := bytes.Fields(value); len(words) > 0 {
			*to, _ = strconv.Atoi(string(words[len(words)-1]))
		}
	}
	return s
}
