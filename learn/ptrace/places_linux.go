package ptrace

// Where names lead, remembered for a moment: the folders that opens went to, and where a thread stands.
//
// Does to the process: nothing; keeps O_PATH descriptors of folders open in psb.
// Can it be undone: forget closes them.
// Preconditions: every call by which the program could make a name lead elsewhere, and chdir(2), stops the tracer (Calls); no traced thread can change
// its root (chroot and mounts are refused).
// Called by: tracer_linux.go, plain_linux.go.
// Proved by: TestPlainOpens, TestNamesThatComeToLeadElsewhere, TestWhereAThreadStands.
//
// A program opens file after file in one folder, and to find the kernel's name of that folder anew costs more than all the rest of a stop. What
// is remembered is forgotten at every call by which the program changes a name, before it and after it, and after a tenth of a second: others
// may change names as well, and what they do nobody tells.

import (
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	stale       = 100 * time.Millisecond
	mostFolders = 64
)

// folder is a folder as the program's words led to it.
type folder struct {
	fd   int    // O_PATH; below 0 when it is of no use here
	name string // the kernel's, with a final "/"
}

// places is what is remembered. Every forgetting is a new age: whoever keeps something beside it notes the age it is of.
type places struct {
	root    int // the program's, as O_PATH; below 0 where it cannot be opened
	folders map[string]folder
	age     uint64
	since   time.Time
	moving  int // threads that are about to stand elsewhere
}

func (p *places) forget() {
	for _, f := range p.folders {
		if f.fd >= 0 {
			_ = unix.Close(f.fd)
		}
	}
	clear(p.folders)
	p.age++
	p.since = time.Now()
}

// refresh forgets what is too old to rely on.
func (p *places) refresh() {
	if time.Since(p.since) > stale {
		p.forget()
	}
}

// folder finds the folder an absolute text leads to; ok is false where an open in it is to be looked at in full.
func (p *places) folder(text string) (f folder, ok bool) {
	f, known := p.folders[text]
	if !known {
		if len(p.folders) >= mostFolders {
			p.forget()
		}
		f = p.find(text)
		p.folders[strings.Clone(text)] = f
	}
	return f, f.fd >= 0
}

func (p *places) find(text string) folder {
	none := folder{fd: -1}
	fd, err := openIn(p.root, text, unix.O_DIRECTORY)
	if err != nil {
		return none
	}
	f := folder{fd, ownName(fd)}
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || st.Nlink == 0 || !strings.HasPrefix(f.name, "/") {
		_ = unix.Close(fd)
		return none
	}
	f.name = strings.TrimSuffix(f.name, "/") + "/"
	if ofKernel(f.name) {
		_ = unix.Close(fd)
		return none
	}
	return f
}

// ofKernel reports what the kernel has a say in that no mode shows; and its names there are not all what they seem.
func ofKernel(name string) bool {
	return strings.HasPrefix(name, "/proc/") || strings.HasPrefix(name, "/sys/") || strings.HasPrefix(name, "/dev/")
}

// standing is the kernel's name of a thread's working folder. Remembered of each thread by itself: threads may share it or not.
func (p *places) standing(th *thread) string {
	if th.cwd != "" && th.cwdAge == p.age {
		return th.cwd
	}
	cwd := procLink(th.tid, "cwd")
	th.cwd = ""
	if p.moving == 0 {
		th.cwd, th.cwdAge = cwd, p.age
	}
	return cwd
}
