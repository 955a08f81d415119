package learn

import "psb/policy"

// NoteFD is the file descriptor that cannot exist to which the Python shim writes its notes: the call fails with EBADF,
// and whoever watches the thread reads the text. It is compared as a 32-bit int, the way the kernel does.
const NoteFD = -0x505342

// MaxNote is the longest note a tracer takes over, in bytes; what is longer is cut.
const MaxNote = 4096

// Event is one thing seen in a run. The set of events is closed.
type Event interface{ event() }

// How says by which kind of call an object was accessed.
type How string

// The kinds of access. The zero How is a plain open, exec, connect or listen of something present.
const (
	Plain   How = ""
	New     How = "new"     // a file, link, FIFO, socket or name that was not there before
	NewDir  How = "newdir"  // a folder that was not there before
	Unnamed How = "unnamed" // O_TMPFILE: a file without a name; the object is its folder
	Remove  How = "remove"  // unlinked, or renamed away
	RemDir  How = "remdir"  // a folder removed or renamed away
	Meta    How = "meta"    // mode, owner, times or attributes
	Look    How = "look"    // a program was looked for and not found: no access, told only to who asks for it
)

// Errno is the outcome of a call: "" for success, else the kernel's name for the error ("ENOENT").
type Errno string

// Accessed is one access the program asked of the kernel, with its outcome. A connect by name that led to an address of the own networks
// comes with a private of the same object; a listen on a port that the kernel chose has port 0.
type Accessed struct {
	TID    int
	Access policy.Access // objects are the kernel's names inside the box; of the network, the name asked for where there was one, else the address
	How    How
	Errno  Errno
	// Asked is the path as the program gave it, absolute but not cleaned, where it differs from the object: it may lead there through
	// links, and then a rule on it shows the links, too. It was read from memory: whoever uses it must resolve it first.
	Asked string
	// Target is the kernel's name and Links say where the links stand, when the object is the program's own name and leads there through
	// links. A rule on the object then stands and falls with those links.
	Target string
	Links  []string
}

// Noted is one line the shim wrote; see ParseNote. It may hold anything: the program can write one, too.
type Noted struct {
	TID  int
	Text string // at most MaxNote bytes
}

// Called is a system call outside the always allowed baseline, told once a run for each name.
type Called struct {
	TID  int
	Name string
}

// Refused is a call the floor kept from running, told each time.
type Refused struct {
	TID   int
	Name  string
	Errno Errno
}

// Spawned tells of a new thread or process before any other event of it.
type Spawned struct {
	TID   int // who made it; 0 when that is not known
	Child int // its thread id
	PID   int // its process, as it sees itself in its own pid namespace
}

// Executed tells that a process became another program. The accesses this took come before it.
type Executed struct {
	TID  int    // of the process after the exec: its id
	Old  int    // the thread that asked; differs from TID when it was not the first one
	File string // the program now running
}

// Exited tells of the end of a thread.
type Exited struct {
	TID int
}

// Known is one thing that was known before the run: a field of Knowledge by its word (see Knowledge.Facts), or a word of who records. Of several
// with one word the lists join.
type Known struct {
	Word string
	List []string
}

// Answered is what a function of Knowledge said, told once for each question.
type Answered struct {
	Question string // entries exists setenv syscall writes
	Object   string
	Yes      bool     // the answer; of entries: they are known
	List     []string // of entries: names in a folder. A long list comes in several events
}

// Ended tells how a run ended; nothing comes after it.
type Ended struct {
	Reason  string // exit, signal, or the limit that ended it
	Status  int    // psb's own exit status
	Partial string // why it may not have come to all it does; "" when it ended by itself
	Peak    int    // most processes at one time; 0 = not known
}

func (Accessed) event() {}
func (Noted) event()    {}
func (Called) event()   {}
func (Refused) event()  {}
func (Spawned) event()  {}
func (Executed) event() {}
func (Exited) event()   {}
func (Known) event()    {}
func (Answered) event() {}
func (Ended) event()    {}
