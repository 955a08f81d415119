package export

import (
	"encoding/json"
	"slices"

	"psb/seccomp"
)

// The seccomp part of a runtime's configuration, which is also a profile of Docker, Podman and Kubernetes.
type ociSeccomp struct {
	DefaultAction   string    `json:"defaultAction"`
	DefaultErrnoRet uint      `json:"defaultErrnoRet"`
	Architectures   []string  `json:"architectures"`
	Syscalls        []ociCall `json:"syscalls"`
}

type ociCall struct {
	Names    []string `json:"names"`
	Action   string   `json:"action"`
	ErrnoRet *uint    `json:"errnoRet,omitempty"`
	Args     []ociArg `json:"args,omitempty"`
}

type ociArg struct {
	Index    uint   `json:"index"`
	Value    uint64 `json:"value"` // of a masked comparison: the mask
	ValueTwo uint64 `json:"valueTwo"`
	Op       string `json:"op"`
}

const ociMaskedEqual = "SCMP_CMP_MASKED_EQ"

// seccompProfile says a filter in libseccomp's words. Its rules of one call have no order, so each call has rules of one action: those that
// allow, which do not meet, and everything else gets the default errno. A whole call that is refused keeps its own.
func seccompProfile(f seccomp.Filter) ociSeccomp {
	s := ociSeccomp{DefaultAction: "SCMP_ACT_ERRNO", DefaultErrnoRet: uint(f.Default.Errno()), Architectures: []string{ociArch(f.Arch)}}
	plain := ociCall{Action: "SCMP_ACT_ALLOW"}
	byErrno := map[seccomp.Errno][]string{}
	var partly []ociCall
	for _, a := range answers(f) {
		switch {
		case a.all:
			plain.Names = append(plain.Names, a.name)
		case a.refused():
			if a.errno != f.Default.Errno() {
				byErrno[a.errno] = append(byErrno[a.errno], a.name)
			}
		default:
			for _, c := range a.allowed {
				partly = append(partly, ociCall{Names: []string{a.name}, Action: "SCMP_ACT_ALLOW", Args: ociArgs(c)})
			}
		}
	}
	s.Syscalls = append([]ociCall{plain}, partly...)
	errnos := make([]seccomp.Errno, 0, len(byErrno))
	for e := range byErrno {
		errnos = append(errnos, e)
	}
	slices.Sort(errnos)
	for _, e := range errnos {
		number := uint(e)
		s.Syscalls = append(s.Syscalls, ociCall{Names: byErrno[e], Action: "SCMP_ACT_ERRNO", ErrnoRet: &number})
	}
	return s
}

func ociArgs(c cube) []ociArg {
	var out []ociArg
	for i, a := range c {
		if a.mask != 0 {
			out = append(out, ociArg{uint(i), a.mask, a.value, ociMaskedEqual})
		}
	}
	return out
}

func ociArch(a seccomp.Arch) string {
	if a == seccomp.ARM64 {
		return "SCMP_ARCH_AARCH64"
	}
	return "SCMP_ARCH_X86_64"
}

// indented is JSON as people read it, with a final newline.
func indented(v any) ([]byte, error) {
	b, err := json.MarshalIndent(v, "", "  ")
	return append(b, '\n'), err
}
