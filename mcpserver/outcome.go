package mcpserver

import "time"

// Status is how a run ended, from outside.
type Status string

// Statuses.
const (
	OK        Status = "ok"
	Failed    Status = "error" // the program ended by itself, with another status than 0 or an exception
	TimedOut  Status = "timeout"
	Killed    Status = "killed" // by a limit, by a signal, from outside
	Cancelled Status = "cancelled"
	Busy      Status = "busy"
	Refused   Status = "refused" // nothing was started
	Internal  Status = "internal"
)

// Result is one run. All of it is the launcher's word but Program, which is the program's own, and what names come from it.
type Result struct {
	ID       string
	Status   Status
	Reason   string // of Refused, Busy and Internal: one line
	Hint     string // what to do about it
	Retry    time.Duration
	Exit     Exit
	Wall     time.Duration
	Approval string // what a person who was to be asked said; "" where nobody was to be
	Limits   []Limit
	Denials  []Denial
	More     int // denials beyond those listed
	Cleanup  Cleanup
	Receipt  Receipt
	Session  *SessionState
	Files    []File
	Unlisted int // files beyond those listed
	Program  Program
}

// Exit is what wait(2) and the limits said.
type Exit struct {
	Code   *int   // nil where a signal ended it
	Signal string // "SIGKILL"
	Reason string // exit, signal, wall, memory, pids, cpu_time, output, disk, cancel, interrupt, channel, Reported; "" where nothing ran
}

// Reported is the reason of an end that only the program tells: its interpreter goes on, and Code is what it says.
const Reported = "reported"

// Limit is one limit of a run. Figures are in Unit; nil is unknown or not asked for.
type Limit struct {
	Name      string   `json:"name"`
	Unit      string   `json:"unit"`
	Requested *float64 `json:"requested,omitempty"` // by the client
	Effective *float64 `json:"effective,omitempty"`
	Ceiling   *float64 `json:"ceiling,omitempty"` // the operator's
	Peak      *float64 `json:"peak,omitempty"`    // observed
	HeldBy    string   `json:"held_by,omitempty"` // kernel, psb, nothing
	Reached   bool     `json:"reached,omitempty"`
}

// Denial is one access that was refused, as often as it came.
type Denial struct {
	Layer     string `json:"layer"` // kernel; reported: the program's own side says so
	Operation string `json:"operation"`
	Target    string `json:"target"`
	Count     int    `json:"count"`
	Rule      string `json:"rule,omitempty"` // what refuses it
	Policy    string `json:"policy,omitempty"`
	Where     string `json:"where,omitempty"`
	Hint      string `json:"hint,omitempty"`
}

// CleanupState says what is left of a box.
type CleanupState string

// States of a cleanup.
const (
	Removed      CleanupState = "REMOVED"
	KeptSession  CleanupState = "KEPT_SESSION"
	PartLeft     CleanupState = "PARTIAL"
	NotAttempted CleanupState = "NOT_ATTEMPTED" // nothing was made
	NotKnown     CleanupState = "UNKNOWN"
)

// Cleanup is what is left of a box once a call is over.
type Cleanup struct {
	State CleanupState `json:"state"`
	Left  []string     `json:"left,omitempty"`
}

// confirmed: nothing is left that should not be.
func (c Cleanup) confirmed() bool { return c.State == Removed || c.State == KeptSession }

// Receipt is what a run can be held to, by who says so.
type Receipt struct {
	Configured map[string]any `json:"configured,omitempty"` // what the launcher set up
	Observed   map[string]any `json:"observed,omitempty"`   // the kernel's counters
	Reported   map[string]any `json:"reported,omitempty"`   // the program's own word
	Unknown    []string       `json:"unknown,omitempty"`    // what could not be found out
}

// SessionState is a session between two calls.
type SessionState struct {
	ID         string        `json:"id"`
	Generation int           `json:"generation"` // of its interpreter, from 1: another one has other state
	Lost       bool          `json:"state_lost"` // since the call before this one, or by this one
	Why        string        `json:"lost_why,omitempty"`
	State      string        `json:"state"` // idle, busy, paused, lost, closed
	Idle       time.Duration `json:"-"`
	Expires    time.Duration `json:"-"`
	Profile    string        `json:"profile,omitempty"`
}

// File is one file of the workspace that is new, or another one than before.
type File struct {
	Path    string
	Size    int64
	SHA256  string // by the launcher, of the bytes it read
	MIME    string // "" where its bytes were not taken along
	Change  string // created, modified, deleted
	Content []byte // nil where it was not taken along
	Omitted string // why not
}

// Program is what the program said.
type Program struct {
	Stdout, Stderr Text
	Value          *Value
	Error          *ProgramError
	Variables      []Variable
	Figures        []Figure
}

// Text is a stream of the program: its beginning and its end, and what was left out between.
type Text struct {
	Head, Tail []byte // Tail follows Head directly where Omitted is 0
	Omitted    int64
}

// Size is how many bytes were printed.
func (t Text) Size() int64 { return int64(len(t.Head)+len(t.Tail)) + t.Omitted }

// Value is the last expression's.
type Value struct {
	Type string            `json:"type"`
	Repr string            `json:"repr"`
	JSON string            `json:"json,omitempty"` // strict JSON text, where the value has one
	MIME map[string]string `json:"mime,omitempty"`
	Cut  bool              `json:"cut,omitempty"` // Repr is not whole
}

// ProgramError is the exception that ended the code.
type ProgramError struct {
	Type      string        `json:"type"`
	Message   string        `json:"message"`
	Frames    []Frame       `json:"frames,omitempty"`
	Chained   *ProgramError `json:"chained,omitempty"`
	Traceback string        `json:"traceback,omitempty"`
}

// Frame is one line of a traceback.
type Frame struct {
	File     string `json:"file"`
	Line     int    `json:"line"`
	Function string `json:"function"`
	Source   string `json:"source,omitempty"`
}

// Variable is one name or expression that was asked for.
type Variable struct {
	Name  string `json:"name"`
	Type  string `json:"type,omitempty"`
	Repr  string `json:"repr,omitempty"`
	JSON  string `json:"json,omitempty"`
	Size  int64  `json:"size,omitempty"`
	Error string `json:"error,omitempty"`
	Cut   bool   `json:"cut,omitempty"`
}

// Figure is a picture that the code drew and did not save.
type Figure struct {
	MIME string
	Data []byte
}
