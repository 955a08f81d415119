package namespaces

import (
	"errors"
	"fmt"
)

// Prepared is a launch that later starts of the same command may use as it is, without working it out again, as long as everything it rests
// on still looks the same. prepared_linux.c reads it in the constructor; see prepared_linux.h.
type Prepared struct {
	// Spec is the launch. Its Ignored, Blocked and Landlock.FD are the later start's own; where it has groups, their name is Group.
	Spec *Spec
	// More is how many words at the end of Spec.Argv came from the end of psb's own command line: a later start puts its own there, at least
	// Least of them.
	More, Least int
	// FromCaller marks the entries of Spec.Env whose value is the caller's own: only their name is kept.
	FromCaller []bool

	Handled Handled
	Acts    []GroupAct
	Group   string // stands for the group's name: as wide as "psb-%010d-%020d-0" of process id and start
	// Refusals is the control group's file that says "max 0" as long as no process was refused; "" for none.
	Refusals string
	Watched  []string // must not be there at the end; Go tells when they are
	Checks   []Check
	GoAtOnce bool   // Go takes over as soon as the program runs
	Own      []byte // for Go, when it takes over
}

// Handled is what the later start's Landlock ruleset handles, with the rights on a standard descriptor's own file by access mode
// (read, write, both).
type Handled struct {
	FS, Net, Scoped uint64
	Stdio           [3]uint64
}

// GroupAct is one step of making the control groups.
type GroupAct struct {
	Kind        ActKind
	Path, Value string
}

// ActKind names a step; the numbers stand in prepared_start_linux.c, too.
type ActKind uint32

// Steps.
const (
	ActMkdir    ActKind = iota + 1 // must not be there; removed at the end
	ActMkdirAny                    // may be there
	ActWrite                       // Value into a file that is there
)

// Check is one object as it looked when the launch was worked out.
type Check struct {
	Kind   CheckKind
	Follow bool // stat(2) instead of lstat(2)
	Path   string
	// Node and content.
	Dev, Ino, Rdev uint64
	Mode, UID, GID uint32
	// Content: nanoseconds since 1970, modulo 2^64.
	Size, Modified, Changed uint64
	Text                    []byte
}

// CheckKind says how much must be the same; the numbers stand in unchanged_linux.c, too.
type CheckKind uint32

// Kinds, each stricter than the one before.
const (
	CheckAbsent  CheckKind = iota // nothing is there
	CheckNode                     // the same object, owner and mode
	CheckContent                  // not written to since, either
	CheckText                     // a file of /proc, whose times say nothing: its text
)

const (
	preparedMagic   = 0x50425350 // "PSBP"
	preparedVersion = 1
	checkFollow     = 1 << 2
	flagGoAtOnce    = 1
	flagRuleset     = 2
)

// EncodePrepared gives the file's content. digest names who may use it: see PreparedName.
func EncodePrepared(digest []byte, p *Prepared) ([]byte, error) {
	s := p.Spec
	if err := s.fits(); err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	if len(digest) != 32 || len(p.FromCaller) != len(s.Env) || p.More > len(s.Argv) {
		return nil, errors.New("BUG: encode: the prepared launch does not fit its Spec")
	}
	e := &encoder{}
	e.u32(preparedMagic)
	e.u32(preparedVersion)
	e.bytes(digest)
	e.u32(uint32(len(p.Checks)))
	for i := range p.Checks {
		e.check(&p.Checks[i])
	}
	e.u32(bits(p.GoAtOnce, s.Landlock != nil))
	e.u32(uint32(p.Least))
	h := p.Handled
	for _, v := range []uint64{h.FS, h.Net, h.Scoped, h.Stdio[0], h.Stdio[1], h.Stdio[2]} {
		e.u64(v)
	}
	e.text(p.Group)
	e.text(p.Refusals)
	e.texts(p.Watched)
	head, tail := &encoder{}, &encoder{}
	head.head(s)
	tail.tail(s)
	e.bytes(head.b)
	e.texts(s.Argv[:len(s.Argv)-p.More])
	e.env(s.Env, p.FromCaller)
	e.bytes(tail.b)
	e.bytes(p.Own)
	e.u32(uint32(len(p.Acts)))
	for _, a := range p.Acts {
		e.u32(uint32(a.Kind))
		e.text(a.Path)
		e.text(a.Value)
	}
	e.u32(preparedMagic)
	return e.b, errors.Join(e.err, head.err, tail.err)
}

// env writes no value that is the caller's.
func (e *encoder) env(env []string, fromCaller []bool) {
	kinds := make([]byte, len(env))
	e.u32(uint32(len(env)))
	for i, kv := range env {
		if fromCaller[i] {
			kinds[i] = 1
			kv = kv[:nameEnd(kv)]
		}
		e.text(kv)
	}
	e.bytes(kinds)
}

// nameEnd is behind the "=".
func nameEnd(kv string) int {
	for i := range len(kv) {
		if kv[i] == '=' {
			return i + 1
		}
	}
	return len(kv)
}

func (e *encoder) check(c *Check) {
	kind := uint32(c.Kind)
	if c.Follow {
		kind |= checkFollow
	}
	e.u32(kind)
	e.text(c.Path)
	if c.Kind == CheckText {
		e.bytes(c.Text)
		return
	}
	if c.Kind == CheckAbsent {
		return
	}
	e.u64(c.Dev)
	e.u64(c.Ino)
	e.u64(c.Rdev)
	e.u32(c.Mode)
	e.u32(c.UID)
	e.u32(c.GID)
	if c.Kind == CheckContent {
		e.u64(c.Size)
		e.u64(c.Modified)
		e.u64(c.Changed)
	}
}
