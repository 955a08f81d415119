package mcpserver

import (
	"context"
	"errors"
	"io"
	"time"
)

// Runner runs code in boxes. All methods may be called by several goroutines. Those of [SessionRunner] and [FileRunner] may be missing: then the
// tools that need them are not offered.
type Runner interface {
	// Offer says what may be asked for. It is read once, when the server is made.
	Offer() Offer
	// Run runs one request, in a fresh box or in the session it names. It returns once nothing of the box is left, or once a session is at rest
	// again. When ctx ends the box is ended. A request that cannot be run at all gives a Result with Refused or Internal and the reason; the
	// error is for what keeps psb itself from answering.
	Run(ctx context.Context, r *Request) (*Result, error)
}

// AheadRunner makes boxes ahead of need, and tells of them for metrics.
type AheadRunner interface {
	Runner
	Ahead() AheadFigures
}

// AheadFigures count boxes that were made before their call.
type AheadFigures struct {
	Ready, Making int   // now
	Made, Taken   int64 // until now
	Missed        int64 // calls that would have fitted one, and found none
	Died          int64 // while they waited
	Stale         int64 // ended because they were made from what is another by now
}

// SessionRunner keeps interpreters between calls. A session belongs to one client; another one's is ErrNoSession.
type SessionRunner interface {
	Runner
	Sessions(client string) []SessionState
	Session(client, id string) (SessionState, error)
	Reset(ctx context.Context, client, id string) (SessionState, error) // the same name, a fresh box: state is lost
	Close(ctx context.Context, client, id string) error
	CloseAll(ctx context.Context, client string) (closed, busy []string) // by name; those in which a call runs are left as they are
	Interrupt(ctx context.Context, client, id string) error              // ends what runs and keeps the state; ErrLost where that could not be
	Pause(ctx context.Context, client, id string) (SessionState, error)
	Resume(ctx context.Context, client, id string) (SessionState, error)
	SessionCounts() SessionCounts
}

// SessionCounts are for metrics.
type SessionCounts struct {
	Live    int
	Started int64
	Ended   map[string]int64 // by reason
}

// SessionBounds are the operator's.
type SessionBounds struct {
	Each, All  int           // of one client, of all
	Idle, Life time.Duration // after which one ends: without use, and at all
}

// FileRunner reaches the workspace of a session from outside, without running anything of the program's. Names are relative to the workspace, clean
// and without "..": the server checks that, and the Runner follows no link.
type FileRunner interface {
	SessionRunner
	ReadFile(ctx context.Context, at Place, offset, limit int64) (FileContent, error)
	WriteFile(ctx context.Context, at Place, content []byte, how Writing) (FileInfo, error)
	FindFiles(ctx context.Context, at Place, query FindQuery) ([]FileInfo, error)
	ManageFile(ctx context.Context, at Place, act FileAct) (FileInfo, error)
}

// Errors that callers tell apart.
var (
	ErrNoSession = errors.New("no such session")
	ErrIdle      = errors.New("nothing runs in this session")
	ErrLost      = errors.New("it did not stop: its box was ended, and its state is lost")
	ErrNotMade   = errors.New("its box is gone, and no other could be made")
)

// FileError is what is wrong with a file that a client named: it is told, and nothing was done. Two with the same words are the same.
type FileError string

func (e FileError) Error() string { return string(e) }

// What may be wrong with a file.
const (
	ErrNoFile   FileError = "no such file"
	ErrIsFolder FileError = "it is a folder"
	ErrNotFile  FileError = "it is no plain file"
	ErrThere    FileError = "something is there already"
	ErrTooLarge FileError = "it is too large"
	ErrLink     FileError = "it is a link, or a link stands in its way; links are not followed"
	ErrNoFolder FileError = "something else stands where a folder is needed; links are not followed"
	ErrNoSpace  FileError = "no space is left in the workspace (disk_mb)"
	ErrNoRight  FileError = "its mode, or that of a folder above, forbids it"
	ErrInUse    FileError = "the program holds it in a way that would keep others waiting"
	ErrChanged  FileError = "it was changed meanwhile; nothing was written"
	ErrNotEmpty FileError = "the folder is not empty; recursive deletes what is in it, too"
)

// Language is what Request.Code is written in.
type Language string

// Languages.
const (
	Python Language = "python"
	Shell  Language = "shell"
)

// Request is one call, checked: every figure is set and within the operator's ceilings. The Runner checks again what it enforces.
type Request struct {
	ID        string // of this run, unguessable
	Client    string // who asks
	Language  Language
	Code      string
	Session   string // "" = a fresh box
	Timeout   time.Duration
	Limits    Limits
	Asked     map[string]float64 // figures the client named itself, by argument: what a receipt shows as requested
	MaxOutput int                // bytes of each stream that are shown: the Runner keeps at least these
	Stdin     io.Reader          // nil = empty
	Args      []string
	Dir       string // working folder below the workspace; "" = the workspace, in a session where its last command ended
	Files     []InputFile
	Return    Return
	Variables []string                          // names or expressions
	Profile   string                            // "" in a session: its own, or the default's
	Network   string                            // as Profile
	Figures   bool                              // figures that the code drew come back as images
	Output    func(stream Stream, chunk []byte) // told what the program prints, as it comes, in order for each stream; may be nil
}

// Limits are a box's. Zero: the profile's own.
type Limits struct {
	Memory    uint64 // bytes
	CPUs      float64
	Processes int
	Disk      uint64 // bytes
}

// Stream is one of the program's two outputs.
type Stream uint8

// Streams.
const (
	Stdout Stream = iota
	Stderr
)

// InputFile is put into the workspace before the code runs.
type InputFile struct {
	Path       string // relative, clean
	Content    []byte
	Executable bool
}

// Return says which new or changed files come back.
type Return struct {
	All   bool
	Globs []string // path.Match of the whole name, "**" for any folders
}

// Offer is what the operator lets clients have.
type Offer struct {
	Version  string // psb's
	Python   string // version of the default profile's interpreter
	Ceilings Ceilings
	Profiles []Profile      // the first is the default
	Networks []string       // the first is the default
	Layers   []string       // walls that each box has, in words
	Missing  []string       // what this host cannot hold, in words
	Cold     bool           // nothing is made ahead of need
	Sessions *SessionBounds // nil: none
	Names    []GivenName    // that Python code finds, from the operator
}

// GivenName is a value of the operator's, by the name that code finds it under.
type GivenName struct {
	Name string
	Type string // in Python: dict, list, str, ...
}

// Profile is a policy and an interpreter under one name.
type Profile struct {
	Name     string
	About    string
	Python   string   // version
	Packages []string // that can be imported, with versions where known
	Grants   []string // rules of its policy, in its own words
}

// Place is a name in the workspace of a session.
type Place struct{ Client, Session, Path string }

// FileInfo is what stands at a place.
type FileInfo struct {
	Path     string
	Kind     string // file, folder, link, other
	Size     int64
	Mode     uint32
	Modified time.Time
	SHA256   string // of files, where it was asked for or written
	Lines    []FoundLine
}

// FoundLine is a line of a file that a search found, from 1.
type FoundLine struct {
	Number int
	Text   string
}

// FileContent is a piece of a file.
type FileContent struct {
	FileInfo
	Offset int64
	Bytes  []byte
}

// Writing is how a file is written.
type Writing struct {
	Executable bool
	Append     bool
	New        bool   // ErrThere where something is
	If         string // SHA-256 of what must stand there, otherwise ErrChanged; "" is anything
}

// FindQuery narrows a search.
type FindQuery struct {
	Glob  string
	Grep  string // a regular expression (RE2), by line
	Depth int    // 0 = any
	Most  int
}

// FileAct is one change of a workspace, or a look.
type FileAct struct {
	Do        string // move, delete, mkdir, chmod, stat
	To        string // move
	Mode      uint32 // chmod
	Recursive bool   // delete
}
