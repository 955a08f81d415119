package plan

import (
	"psb/landlock"
	"psb/namespaces"
	"psb/policy"
	"psb/pythonshim"
)

// Mode is what a run is for.
type Mode uint8

// Modes.
const (
	Enforce Mode = iota // the policy holds
	Learn               // everything but the floor is granted and recorded
	Audit               // as Learn, and what is written goes to throw-away overlays, nothing reaches the network
)

// Learning reports a mode in which everything but the floor is granted and recorded.
func (m Mode) Learning() bool { return m == Learn || m == Audit }

// String is the word of reports.
func (m Mode) String() string { return [...]string{"enforce", "learn", "audit"}[m] }

// Provider is a rung of the ladder of walls.
type Provider string

// Providers, best first.
const (
	Namespaces   Provider = "namespaces" // everything
	LandlockOnly Provider = "landlock"   // Landlock and seccomp in the host's namespaces ("lite")
	None         Provider = "none"       // no wall at all, only by name on the command line
)

// Host is what was probed of the machine and the caller.
type Host struct {
	Kernel, Arch string
	Hostname     string
	Root         bool     // the caller's user id is 0
	Identity     Identity // the caller's account; ids as on the host
	Nested       bool     // psb itself is inside a user namespace: its root is somebody's ordinary user
	UserNS       bool     // user namespaces, and a mount in one, work
	UserNSWhy    string   // why not
	PlainNS      bool     // namespaces without a user namespace work (CAP_SYS_ADMIN)
	Landlock     landlock.Support
	Seccomp      bool
	SeccompWhy   string
	Notify       bool // SECCOMP_RET_USER_NOTIF with a listener of our own
	NotifyWhy    string
	Resolver     []string          // the lines of the host's resolv.conf that are no name servers: search, options
	Limits       map[string]string // by [limits] name: "" = something holds it, else what would
	MemoryTotal  uint64            // bytes
	Python       *pythonshim.Layout
	Venv         string                           // folder of the virtual environment, "" for none
	Links        []Link                           // symbolic links that lead to what is always there
	Always       []string                         // host paths that are there without a rule
	Mounts       []Mount                          // of the caller, for audits; in the order of the kernel's table
	NoOverlay    map[string]string                // host folders that cannot be overlaid, with the reason, for audits: found out by trying
	Linked       func(executable string) []string // what an executable needs to start, read statically
}

// Command is what to run.
type Command struct {
	Exec    string   // host path given to execve(2), as named: links are followed inside as outside
	Argv    []string // complete
	Env     []string // the caller's environment
	Dir     string   // working folder
	Reads   []string // readable without a rule: the script, the module's file
	Python  bool     // Exec is the interpreter
	Apart   bool     // with flags that keep PYTHONPATH or site.py from it: -I -E -S
	Given   []string // host objects named by arguments, shown while learning
	Writes  []string // folders of --learn-write
	Sockets []string // unix sockets of --learn-unix
	Private []Space  // folders that are the box's own, on memory, empty at start; only with a mount namespace
}

// Space is a folder that exists in the box alone.
type Space struct {
	Path string
	Size uint64 // bytes, its files counted, too; 0 = as [limits] disk says
	Part bool   // an empty folder of the space above it, not one of its own
}

// Plan is a launch as a value: explain prints it, the launcher applies it.
type Plan struct {
	Mode        Mode
	Provider    Provider
	Policy      *policy.Policy
	Command     Command
	Identity    Identity // inside
	Env         []string
	Places      []*Place
	Files       landlock.Ruleset        // fitted; its Paths are paths inside (namespaces) or host paths (landlock)
	Spec        namespaces.Spec         // without descriptors and filters
	Syscalls    map[string]bool         // the policy's [syscalls] lines
	Limits      map[string]policy.Limit // with the defaults
	Missing     []string                // folders of write and create rules that psb makes first
	Watched     []string                // protected names that were not there: reported as planted when they are after the run
	Absent      []policy.Origin         // rules whose object is not there
	Gaps        []Gap
	Shim        bool
	PythonLayer PythonLayer       // what holds the policy's lines on Python
	Datagrams   bool              // the broker relays datagrams
	Overlaid    []string          // folders with a throw-away overlay, in the order of the Spec's acts
	Protected   []string          // of an audit: what would be protected otherwise
	Brokered    bool              // a broker reaches outside for the box; without it the box reaches nobody
	Sockets     map[string]string // unix sockets of the host that rules name: the rule's path to where it leads, free of links
}
