package policy

import "time"

// Policy is a parsed policy file with its includes joined in. It holds what was asked for, never what a
// machine can do.
type Policy struct {
	Name    string   // the top file's path as named; "" for the empty policy
	Sources []Source // the top file first, then its includes in reading order
	Locked  bool     // any file says locked = true
	Learn   string   // learn = "FILE", "" when absent, and in a locked policy, which never honours it

	LockedAt Origin    // the first line that says locked = true
	Version  int       // version = N; 0 when absent, which reads as 1
	Includes []Include // every include line; those of a policy from Parse are not joined yet

	Sandbox     Sandbox
	SyscallBase string // [syscalls] base; "" = "python"
	// Rules stand in the order of Sources, and by line within each; where two name the same object the first wins.
	Rules  []Rule            // every line of [env] [files] [net] [syscalls] [python.import] [python.call], every element of a list of [python.eval]
	Limits map[string]Limit  // by name: memory memory_swap cpus cpu_time wall pids file_size disk open_files output
	Shim   bool              // [python] shim; true when absent
	Tables map[string]Origin // tables that are present, by name ("env", "python.import", "python.eval.NAME"), with their first line
	Eval   map[string]Eval   // [python.eval] under "", [python.eval.NAME] under NAME

	shimAt  Origin  // [python] shim's line
	learnAt Origin  // learn's line
	joined  bool    // Load has read the includes
	macros  *Macros // what Expand used, so that a fix is written as the file would hold it
}

// ShimAt is the line [python] shim stands in; the zero Origin when no line says it.
func (p *Policy) ShimAt() Origin { return p.shimAt }

// Include is one element of include = [...].
type Include struct {
	Text     string // as written, without the "?"
	Optional bool   // written with "?": may be absent
	Origin   Origin
}

// Source is one file a policy was read from.
type Source struct {
	Name  string // path as named
	Path  string // absolute clean path; "" when the text came from no file
	Bytes []byte
}

// Sandbox is the [sandbox] table.
type Sandbox struct {
	Python    string // interpreter to run; "" = look up python3
	Provider  string // auto namespaces landlock bwrap none; "" = auto
	Require   []string
	AllowGaps []string
	Origin    map[string]Origin // by key, for messages
}

// Limit is one line of [limits].
type Limit struct {
	Name   string
	Text   string        // as written
	Bytes  uint64        // memory memory_swap file_size disk output
	Count  uint64        // pids open_files
	CPUs   float64       // cpus
	Time   time.Duration // cpu_time wall
	Origin Origin
}

// Eval is one profile of [python.eval]; each named profile is complete in itself.
type Eval struct {
	Origin Origin
	Lists  map[string][]string // syntax call attribute import magic; "!name" denies
	Values map[string]string   // namespace timeout max_iterations max_call_depth max_depth max_nodes max_alloc
}
