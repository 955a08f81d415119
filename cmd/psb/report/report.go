package report

// Version is the form of the .json and .jsonl reports. A new key does not change it; another meaning of a key does.
const Version = 1

// Report is what was configured, observed and reported of one run. It holds names of variables, never their values.
type Report struct {
	Run
	Gaps    []Gap        `json:"gaps"`
	Limits  []Limit      `json:"limits"`
	Python  *PythonLayer `json:"python_layer,omitempty"` // not there where psb stopped before it was settled
	Denials []Denial     `json:"denials"`
	More    More         `json:"more_denials"`
	Planted []string     `json:"planted"` // what the program put where a protected file would be read from; absolute
	// Inspected are the variables of --inspect, as the program says.
	Inspected []Inspected `json:"inspected"`
	Learning
	Audit *Audit `json:"audit,omitempty"` // of an audited run alone
	End
}

// Run is what was asked for.
type Run struct {
	Report   int      `json:"report"` // Version
	Psb      string   `json:"psb"`    // its own version
	Argv     []string `json:"argv"`   // the program's words; empty where psb stopped before it knew them
	Policy   string   `json:"policy"` // absolute; "" for none
	Folder   string   `json:"folder"` // the working folder
	Root     string   `json:"root"`   // the top of the sources: of the git checkout, else the project
	Mode     string   `json:"mode"`   // enforce, learn, audit; "" where psb stopped before it was settled
	Provider string   `json:"provider"`
	// Program is a file of the program, for what has no place of its own; absolute, "" where there is none.
	Program string `json:"program,omitempty"`
}

// End is what ended the run.
type End struct {
	Status int    `json:"status"` // psb's own exit status
	Signal string `json:"signal,omitempty"`
	// Reason is exit, signal, refused, "not executable", "not found", or the limit that ended the program: wall memory output cpu_time.
	Reason string `json:"reason"`
	// Failed says that the status comes from --fail-on-denial, not from the program.
	Failed bool   `json:"failed_on_denial"`
	Error  string `json:"error,omitempty"` // what psb itself has to say
	Usage  Usage  `json:"usage"`
}

// Gap is something asked for that this host cannot do. Neither accepted nor soft, it stopped the run.
type Gap struct {
	Name     string `json:"name"`
	Lost     string `json:"lost"`
	Needs    string `json:"needs"`
	Accepted bool   `json:"accepted"`
	Soft     bool   `json:"soft"` // a default that nobody asked for by name
}

// Open reports a gap that stops a run.
func (g Gap) Open() bool { return !g.Accepted && !g.Soft }

// PythonLayer is what held the policy's lines on Python: psb's code inside the interpreter.
type PythonLayer struct {
	Present     bool     `json:"present"`
	How         string   `json:"how,omitempty"` // overlay, sitecustomize
	Interpreter string   `json:"interpreter,omitempty"`
	Version     string   `json:"version,omitempty"`
	Why         string   `json:"why,omitempty"` // it was not there
	Imports     int      `json:"imports"`       // lines of [python.import]
	Calls       int      `json:"calls"`         // lines of [python.call]
	Eval        []string `json:"eval_profiles"` // of [python.eval]: "" is the one without a name; none: evaluated text is refused
}

// Limit is one limit of the run, asked for or a default.
type Limit struct {
	Name   string  `json:"name"`
	Text   string  `json:"text"`   // as it was asked for
	Origin string  `json:"origin"` // file:line, "command line", "default"
	Value  float64 `json:"value"`  // bytes, seconds, a number of processes, files or processors
	Unit   string  `json:"unit"`   // bytes seconds processes files cpus
	// Effective is what holds: "kernel", what stands in for it, or "nothing".
	Effective string `json:"effective"`
	Reached   bool   `json:"reached"` // it ended the program, or refused it processes
}

// Denial is one refused access, with how often it came.
type Denial struct {
	Op      string `json:"op"`
	Object  string `json:"object"`
	Where   string `json:"where,omitempty"` // file:line of the program, absolute
	Count   int    `json:"count"`
	Source  string `json:"source"`            // kernel: a call was refused; reported: the program's process says so
	Rule    string `json:"rule,omitempty"`    // the line that would allow it
	Blocker string `json:"blocker,omitempty"` // file:line of the line that refuses it, as messages name it
	Hint    string `json:"hint,omitempty"`
	Wider   string `json:"wider,omitempty"`    // what would allow more than was asked, in words
	LeadsTo string `json:"leads_to,omitempty"` // where the object is, when its name leads over a link
	// File and Line are where in the policy the answer stands: the line that refuses, the table that a rule would go into.
	File string `json:"policy_file,omitempty"`
	Line int    `json:"policy_line,omitempty"`
}

// Inspected is what the program says of one of its variables at its end.
type Inspected struct {
	Name  string `json:"name"`
	State string `json:"state"` // value; missing: no such variable; failed: its repr raised; untold: Python did not come to its end
	Text  string `json:"text"`  // repr of the value, cut; the exception's class
}

// More are refusals beyond those kept: a program may try for ever.
type More struct {
	Count   int  `json:"count"`
	AtLeast bool `json:"at_least"` // there were more that could not be counted, or not judged
}

// Learning is what a learning run found.
type Learning struct {
	Learned []Grant   `json:"learned"`
	Never   []Attempt `json:"never_granted"`          // the floor: tried, refused or given, and never a rule
	Refused []Attempt `json:"refused_while_learning"` // by the box or the system
	Left    []string  `json:"left_out"`               // seen, and left out on purpose: one sentence each
	Unset   []string  `json:"not_set"`                // names of variables that were read and are not set
	Partial string    `json:"partial,omitempty"`      // why the run did not end by itself
}

// Grant is a rule that learning added to the policy.
type Grant struct {
	Op     string `json:"op"`
	Object string `json:"object"`
	Text   string `json:"text"`            // the key in the file
	Tier   string `json:"tier"`            // warn: the line is marked "!"; normal
	Alert  string `json:"alert,omitempty"` // why it is marked
	Why    string `json:"why,omitempty"`   // who asked: function or module, and library
	Seen   int    `json:"seen,omitempty"`  // of a widened line: how many names were used
	Of     int    `json:"of,omitempty"`    // of how many, where known
}

// Attempt is what a learning run saw and gave no rule for.
type Attempt struct {
	Op     string `json:"op"` // read, connect …; call for a kernel call of the floor
	Object string `json:"object"`
	Errno  string `json:"errno,omitempty"` // what the program got, "" when it had it all the same or it is not known
	Count  int    `json:"count,omitempty"`
}

// Usage is what the run took.
type Usage struct {
	WallSeconds float64 `json:"wall_seconds"`
	CPUSeconds  float64 `json:"cpu_seconds"`
	MemoryPeak  uint64  `json:"memory_peak_bytes"`
	OOMKills    uint64  `json:"oom_kills"`
	PIDsPeak    uint64  `json:"pids_peak"`
	PIDsRefused uint64  `json:"pids_refused"`
	// Unknown names the figures this host cannot give.
	Unknown []string `json:"unknown"`
}

// Ran reports that psb did its part: it started the program and nothing of its own failed.
func (r *Report) Ran() bool {
	return r.Error == "" && r.Reason != "refused" && r.Reason != "not executable" && r.Reason != "not found"
}

// whole gives every list that is none an empty one: readers of JSON need not tell the two apart.
func (r *Report) whole() *Report {
	w := *r
	w.Report = Version
	some(&w.Argv)
	some(&w.Gaps)
	some(&w.Limits)
	if w.Python != nil {
		layer := *w.Python
		some(&layer.Eval)
		w.Python = &layer
	}
	some(&w.Denials)
	some(&w.Planted)
	some(&w.Inspected)
	some(&w.Learned)
	some(&w.Never)
	some(&w.Refused)
	some(&w.Left)
	some(&w.Unset)
	some(&w.Usage.Unknown)
	w.Audit = w.Audit.whole()
	return &w
}

func some[T any](list *[]T) {
	if *list == nil {
		*list = []T{}
	}
}
