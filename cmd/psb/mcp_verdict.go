package main

import (
	"encoding/json"
	"time"

	"psb/mcpserver"
)

// boxOrder is what the server tells first of each box: what the box is made of.
type boxOrder struct {
	Language  string
	Shell     *shellOrder // where that is its language
	Profile   boxProfile
	Limits    map[string]string // [limits] of the box, as its text
	AllowGaps []string
	Network   bool            // the profile's [net] holds; otherwise nothing of it does
	Session   bool            // it stays: sessionAsk after sessionAsk follows in place of one call
	Preload   []string        // modules that are imported before the call is there
	Values    json.RawMessage `json:",omitempty"` // that the code finds as names: a JSON object, or nil
	Ahead     bool            // made ahead of need: it may be refused what it was made from by the time the call is there
}

// shellOrder is what has to be known of a call before its shell can be started.
type shellOrder struct {
	Code string
	Args []string
	Dir  string // below the workspace
}

func (s *shellOrder) words() []string {
	return append([]string{"sh", "-c", s.Code, "sh"}, s.Args...)
}

// callOrder is what it tells it second, at once or much later: the call.
type callOrder struct {
	Code      string
	Args      []string
	Variables []string
	Figures   bool
	Files     []boxInput
	Limits    map[string]string // as the box's or lower
	All       bool              // return_files
	Globs     []string
	Returned  int   // files at most
	ReturnMax int64 // bytes of one
	ReturnAll int64 // bytes of all

	// Of a session's.
	Shell bool   // Code is for /bin/sh
	Dir   string // "" = where the last shell ended
	Stdin bool   // its standard input follows
}

// boxWord is one thing that is answered: that the box waits for its call, that the call begins, then the verdict. Without Begun
// nothing of the call was done, and it may be given to another box.
type boxWord struct {
	Ready   *boxReady
	Begun   bool
	Say     *sessionSay // of a session
	Verdict *boxVerdict // the box is gone
}

// sessionAsk is what the server wants of a session: one of these.
type sessionAsk struct {
	ID    int        // the answer has it, too
	Call  *callOrder // one at a time
	Name  string     // of the order in the box; unguessable
	File  *fileAsk
	Input *inputAsk
	Do    string // interrupt, cancel, pause, resume
}

// inputAsk is a piece of an order's standard input; no bytes are its end.
type inputAsk struct {
	Of    int // the order
	Bytes []byte
}

// sessionSay is an answer, or something that comes before one.
type sessionSay struct {
	ID      int
	Printed []byte // by the order, to Stream
	Stream  mcpserver.Stream
	Opened  bool        // the order's program reads its standard input
	Verdict *boxVerdict // of the order
	File    *fileSay
	Wrong   string // why it was not done
}

type fileAsk struct {
	Do            string // read, write, find, and those of mcpserver.FileAct
	Path          string
	Offset, Limit int64
	Content       []byte
	How           mcpserver.Writing
	Query         mcpserver.FindQuery
	Act           mcpserver.FileAct
}

type fileSay struct {
	Content mcpserver.FileContent
	Found   []mcpserver.FileInfo
	Wrong   string
	File    bool // Wrong is about the file
}

// boxReady tells of a box that waits.
type boxReady struct {
	Failed []string // of Preload, and why
	Doubt  string   // made ahead of need, and why nobody could tell later whether it is what would be made then
}

type boxInput struct {
	Path       string
	Content    []byte
	Executable bool
}

// boxProfile is a policy as the server read it for a call: its texts by name, so that nothing changes it on the way.
type boxProfile struct {
	Name   string
	Python string
	Policy string            // name of the top file; "" = BuiltIn
	Texts  map[string][]byte // by the names that were asked for
	Folder string            // ${project}
}

// boxVerdict is how a run ended: all of it psb's own look, but Report, which the program wrote.
type boxVerdict struct {
	Started   bool
	Ordered   bool   // the program was given its call
	Stale     bool   // made ahead of need, from what is another by now
	Refusal   string // why nothing was started
	Hint      string
	Status    int
	Signal    string
	Reason    string
	Cancelled bool
	Kept      bool          // the box goes on: Status is its program's word
	GivenUp   bool          `json:"-"` // it was not told: the psb behind it took too long to end what was given up
	Wall, CPU time.Duration // since the call was there
	Usage     boxUsage
	Limits    []boxLimit
	Denials   []boxDenial
	More      int
	Provider  string
	Walls     []string
	Gaps      []string
	Env       []string // names
	Left      []string // what was not removed
	DiskUsed  uint64
	DiskFull  bool
	Files     []boxFile
	Unlisted  int
	LookedAt  string // why files could not be looked at; "" where they could
	Report    []byte // nil where there is none
}

type boxUsage struct {
	MemoryPeak, PIDsPeak, PIDsRefused, OOMKills uint64
	Unknown                                     []string
}

type boxLimit struct {
	Name    string
	Value   float64
	Unit    string
	HeldBy  string
	Reached bool
}

type boxDenial struct {
	Layer, Operation, Target, Rule, Policy, Where, Hint string
	Count                                               int
}

type boxFile struct {
	Path, SHA256, Change, Omitted string
	Size                          int64
	Content                       []byte
}
