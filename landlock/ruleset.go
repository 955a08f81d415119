package landlock

import (
	"fmt"
	"slices"
	"strings"
)

// Ruleset says what is refused and what is granted nonetheless. Handled rights are refused everywhere but where a rule
// grants them; rights that are not handled are not governed at all.
type Ruleset struct {
	ABI        int // the ABI it was fitted to by [Ruleset.Fit]; 0 = not fitted, or nothing to enforce
	HandledFS  Access
	HandledNet Net
	Scoped     Scope
	Paths      []PathRule
	Ports      []PortRule
}

// PathRule grants Access on the object at Path and on everything beneath it.
type PathRule struct {
	// Path is opened when the ruleset is created, following links; /proc/self/fd/N names an object already open.
	Path   string
	Access Access
	File   bool // the object is no folder: only the rights of [ForFile] are used
}

// PortRule grants Access on one port, on every address.
type PortRule struct {
	Port   uint16
	Access Net
}

// Everything is the ruleset of a box: every right on files is handled and every scope is on, no port is governed and
// nothing is granted.
func Everything() Ruleset {
	newest := abis[len(abis)-1]
	return Ruleset{HandledFS: newest.fs, Scoped: newest.scopes}
}

// DenyNet handles every right on ports, TCP and UDP, so that only the ports of rules may be used. It is for a box that
// lives in the host's network namespace.
func (r Ruleset) DenyNet(ports ...PortRule) Ruleset {
	r.HandledNet = TCP | UDP
	r.Ports = append(slices.Clone(r.Ports), ports...)
	return r
}

// DenyTCP handles the rights on TCP ports and grants none. It is for a box whose connects and binds somebody else makes for it.
func (r Ruleset) DenyTCP() Ruleset {
	r.HandledNet = TCP
	return r
}

// Enforces tells whether there is anything to restrict.
func (r Ruleset) Enforces() bool { return r.HandledFS != 0 || r.HandledNet != 0 || r.Scoped != 0 }

// String is the ruleset in lines: the ABI, what is refused, then one line a rule, in the order of the rules.
func (r Ruleset) String() string {
	var b strings.Builder
	switch {
	case !r.Enforces():
		b.WriteString("landlock: nothing is restricted\n")
	case r.ABI == 0:
		b.WriteString("landlock, not fitted to a kernel\n")
	default:
		fmt.Fprintf(&b, "landlock ABI %d\n", r.ABI)
	}
	fmt.Fprintf(&b, "refused on files: %v\n", r.HandledFS)
	fmt.Fprintf(&b, "refused on ports: %v\n", r.HandledNet)
	fmt.Fprintf(&b, "refused towards processes outside: %v\n", r.Scoped)
	for _, p := range r.Paths {
		fmt.Fprintf(&b, "granted on %q: %v\n", p.Path, p.rights())
	}
	for _, p := range r.Ports {
		fmt.Fprintf(&b, "granted on port %d: %v\n", p.Port, p.Access)
	}
	return b.String()
}

func (p PathRule) rights() Access {
	if p.File {
		return ForFile(p.Access)
	}
	return p.Access
}
