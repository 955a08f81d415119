package namespaces

import (
	"encoding/binary"
	"errors"
	"fmt"
	"path"
	"strings"
)

// The form of an encoded Spec, read by decode_linux.c: little-endian words; a text is its length, its bytes and a NUL that the length does
// not count; a list is its length and its texts. Both halves are one binary, so the version only guards against a mistake.
const (
	magic   = 0x31425350 // "PSB1"
	version = 1
)

// Bits of the flags word.
const (
	flagUser = 1 << iota
	flagMount
	flagPID
	flagNet
	flagIPC
	flagUTS
	flagCgroup
	flagLateUser
	flagLoopback
	flagListener
	flagHold
	flagSubreaper
	flagLandlock
	flagAwait
)

type encoder struct {
	b   []byte
	err error
}

func (e *encoder) u32(v uint32) { e.b = binary.LittleEndian.AppendUint32(e.b, v) }
func (e *encoder) u64(v uint64) { e.b = binary.LittleEndian.AppendUint64(e.b, v) }

func (e *encoder) bytes(v []byte) {
	if uint64(len(v)) > 1<<30 {
		e.err = fmt.Errorf("encode: %d bytes in one field", len(v))
		return
	}
	e.u32(uint32(len(v)))
	e.b = append(append(e.b, v...), 0)
}

func (e *encoder) text(v string) {
	if strings.IndexByte(v, 0) >= 0 && e.err == nil {
		e.err = fmt.Errorf("encode: %q holds a NUL", v)
	}
	e.bytes([]byte(v))
}

func (e *encoder) texts(v []string) {
	e.u32(uint32(len(v)))
	for _, t := range v {
		e.text(t)
	}
}

func bits(set ...bool) (out uint32) {
	for i, on := range set {
		if on {
			out |= 1 << i
		}
	}
	return out
}

// mostInstructions is BPF_MAXINSNS.
const mostInstructions = 4096

// fits refuses what would act on the host instead of the box, or what the stages could not tell from it.
func (s *Spec) fits() error {
	u := s.Unshare
	switch {
	case len(s.Ops) > 0 && !u.Mount:
		return errors.New("acts without a mount namespace")
	case s.Upper != 0 && len(s.Ops) == 0:
		return errors.New("a file system for overlays without acts")
	case s.Hostname != "" && !u.UTS:
		return errors.New("a host name without a UTS namespace")
	case s.Loopback && !u.Net:
		return errors.New("loopback without a network namespace")
	case s.LateUser && !u.User:
		return errors.New("a late user namespace without one")
	case s.Listener && len(s.Filter) == 0:
		return errors.New("a listener without a filter")
	case !u.User && (s.UID != s.HostUID || s.GID != s.HostGID):
		return errors.New("other ids inside than outside without a user namespace")
	}
	for _, f := range [][]byte{s.Filter, s.Reaper} {
		if len(f)%8 != 0 || len(f)/8 > mostInstructions {
			return fmt.Errorf("a filter of %d bytes is not made of at most %d instructions of 8 bytes", len(f), mostInstructions)
		}
	}
	for i := range s.Ops {
		o := &s.Ops[i]
		if path.Clean(o.Target) != o.Target || !path.IsAbs(o.Target) || o.Target == "/" && o.Kind != OpDir && o.Kind != OpReadOnly {
			return fmt.Errorf("target %q of an act is not a clean absolute path below /", o.Target)
		}
		if o.Kind == OpOverlay && s.Upper == 0 {
			return fmt.Errorf("an overlay on %q without a file system it could write to", o.Target)
		}
		if o.IDMap && (o.Kind != OpBind && o.Kind != OpOverlay || u.User && !s.LateUser) {
			return fmt.Errorf("an id map on %q: only real root's binds of host objects may have one", o.Target)
		}
	}
	return nil
}

// Encode gives the Spec as stage 2 reads it. A text with a NUL, and a Spec that contradicts itself, is an error.
func Encode(s *Spec) ([]byte, error) {
	if err := s.fits(); err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	e := &encoder{}
	e.head(s)
	e.texts(s.Argv)
	e.texts(s.Env)
	e.tail(s)
	return e.b, e.err
}

// head is all before argv; prepared_start_linux.c writes the masks of signals into it.
func (e *encoder) head(s *Spec) {
	e.u32(magic)
	e.u32(version)
	u := s.Unshare
	e.u32(bits(u.User, u.Mount, u.PID, u.Net, u.IPC, u.UTS, u.Cgroup, s.LateUser, s.Loopback, s.Listener, s.Hold, s.Subreaper, s.Landlock != nil, s.Await))
	e.u32(s.UID)
	e.u32(s.GID)
	e.u32(s.HostUID)
	e.u32(s.HostGID)
	e.u64(s.Ignored)
	e.u64(s.Blocked)
	e.text(s.Hostname)
	e.texts(s.CgroupProcs)
	e.texts(s.CgroupDirs)
	e.text(s.Root)
	e.u64(s.Upper)
	e.u32(uint32(len(s.Ops)))
	for i := range s.Ops {
		e.op(&s.Ops[i])
	}
	e.u32(uint32(len(s.Rlimits)))
	for _, r := range s.Rlimits {
		e.u32(uint32(r.Resource))
		e.u64(r.Value)
	}
	var rules []LandlockRule
	if s.Landlock != nil {
		rules = s.Landlock.Rules
	}
	e.u32(uint32(len(rules)))
	for _, r := range rules {
		e.u64(r.Access)
		e.text(r.Path)
	}
	e.bytes(s.Filter)
	e.bytes(s.Reaper)
	e.text(s.Exec)
}

func (e *encoder) tail(s *Spec) {
	e.text(s.Dir)
	e.u32(magic)
}

func (e *encoder) op(o *Op) {
	e.u32(uint32(o.Kind))
	e.u32(bits(o.Recursive, o.ReadOnly, o.NoExec, o.Dev, o.Optional, o.IDMap, o.UserXattr))
	e.u32(o.Mode)
	e.u64(o.Size)
	e.u64(o.Modified)
	e.u64(o.SourceDev)
	e.u64(o.SourceIno)
	e.u32(o.IDMapUID)
	e.u32(o.IDMapGID)
	e.text(o.Source)
	e.text(o.Target)
	e.bytes(o.Data)
}
