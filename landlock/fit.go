package landlock

import (
	"fmt"
	"slices"
)

// Support is what a kernel can do.
type Support struct {
	ABI    int    // LANDLOCK_CREATE_RULESET_VERSION, at most [NewestABI]; 0 = no Landlock
	Reason string // why ABI is 0, or lower than the kernel says; in words
}

// Lost is one thing a ruleset asks for and a kernel cannot do.
type Lost struct {
	Name     string // stable, for naming the gap: "landlock", "landlock.truncate"
	What     string // what is no longer refused (or, Stricter, no longer possible)
	Needs    string // what would bring it
	Stricter bool   // the box is tighter than asked: nothing is open, but something granted does not work
}

// String is one line, "what: needs …".
func (l Lost) String() string { return l.What + ": needs " + l.Needs }

// NewestABI is the newest ABI this package knows.
const NewestABI = 11

// abi is what one version of the interface knows in all.
type abi struct {
	version int
	kernel  string
	fs      Access
	net     Net
	scopes  Scope
}

// abis is indexed by version-1. ABI 7 brought flags for the audit log, 8 and 11 flags of landlock_restrict_self(2): no new
// rights.
var abis = []abi{
	{1, "5.13", FSRefer - 1, 0, 0},
	{2, "5.19", FSTruncate - 1, 0, 0},
	{3, "6.2", FSIoctlDev - 1, 0, 0},
	{4, "6.7", FSIoctlDev - 1, TCP, 0},
	{5, "6.10", FSResolveUnix - 1, TCP, 0},
	{6, "6.12", FSResolveUnix - 1, TCP, ScopeAbstractUnixSocket | ScopeSignal},
	{7, "6.15", FSResolveUnix - 1, TCP, ScopeAbstractUnixSocket | ScopeSignal},
	{8, "7.0", FSResolveUnix - 1, TCP, ScopeAbstractUnixSocket | ScopeSignal},
	{9, "7.1", FSResolveUnix<<1 - 1, TCP, ScopeAbstractUnixSocket | ScopeSignal},
	{10, "7.2", FSResolveUnix<<1 - 1, TCP | UDP, ScopeAbstractUnixSocket | ScopeSignal},
	{NewestABI, "7.3", FSResolveUnix<<1 - 1, TCP | UDP, ScopeAbstractUnixSocket | ScopeSignal},
}

// losses says what it means that a set of rights is missing. FSRefer is not among them: below ABI 2 the kernel refuses
// every link and rename between folders by itself.
var losses = []struct {
	fs     Access
	net    Net
	scopes Scope
	name   string
	what   string
}{
	{fs: FSTruncate, name: "landlock.truncate", what: "truncating files that may only be read is not refused"},
	{net: TCP, name: "landlock.tcp", what: "binding and connecting TCP ports is not refused"},
	{fs: FSIoctlDev, name: "landlock.ioctl", what: "ioctl on devices that may be opened is not refused"},
	{scopes: ScopeSignal, name: "landlock.signal", what: "signals to processes outside are not refused"},
	{scopes: ScopeAbstractUnixSocket, name: "landlock.abstract", what: "connecting to abstract unix sockets outside is not refused"},
	{fs: FSResolveUnix, name: "landlock.unix", what: "connecting to unix sockets outside by path is not refused"},
	{net: UDP, name: "landlock.udp", what: "binding and sending from UDP ports is not refused"},
}

// Fit cuts the ruleset down to what s knows and tells what is lost by it, oldest feature first. A rule left without
// rights is dropped. With no Landlock at all the result restricts nothing and the one loss says so. Fit of a fitted
// ruleset changes nothing.
func (r Ruleset) Fit(s Support) (Ruleset, []Lost) {
	if !r.Enforces() {
		return Ruleset{}, nil
	}
	if s.ABI < 1 {
		needs := "Linux 5.13 with landlock in the boot option lsm="
		if s.Reason != "" {
			needs += " (" + s.Reason + ")"
		}
		return Ruleset{}, []Lost{{Name: "landlock", What: "no file, port or process is kept from the program by Landlock", Needs: needs}}
	}
	have := abis[min(s.ABI, NewestABI)-1]
	return r.cut(have), r.lost(have, s.Reason)
}

func (r Ruleset) cut(have abi) Ruleset {
	out := Ruleset{
		ABI:        have.version,
		HandledFS:  r.HandledFS & have.fs,
		HandledNet: r.HandledNet & have.net,
		Scoped:     r.Scoped & have.scopes,
	}
	for _, p := range r.Paths {
		if p.Access = p.rights() & out.HandledFS; p.Access != 0 {
			out.Paths = append(out.Paths, p)
		}
	}
	for _, p := range r.Ports {
		if p.Access &= out.HandledNet; p.Access != 0 {
			out.Ports = append(out.Ports, p)
		}
	}
	if !out.Enforces() {
		return Ruleset{}
	}
	return out
}

func (r Ruleset) lost(have abi, why string) []Lost {
	var out []Lost
	refers := slices.ContainsFunc(r.Paths, func(p PathRule) bool { return p.rights()&r.HandledFS&FSRefer != 0 })
	if refers && have.fs&FSRefer == 0 {
		out = append(out, Lost{Name: "landlock.refer", What: "renaming and linking files between folders always fails (EXDEV)",
			Needs: needs(abis[1], ""), Stricter: true})
	}
	for _, l := range losses {
		asked := r.HandledFS&l.fs != 0 || r.HandledNet&l.net != 0 || r.Scoped&l.scopes != 0
		if asked && !have.knows(l.fs, l.net, l.scopes) {
			out = append(out, Lost{Name: l.name, What: l.what, Needs: needs(firstWith(l.fs, l.net, l.scopes), why)})
		}
	}
	return out
}

func (a abi) knows(fs Access, net Net, scopes Scope) bool {
	return fs&^a.fs == 0 && net&^a.net == 0 && scopes&^a.scopes == 0
}

func firstWith(fs Access, net Net, scopes Scope) abi {
	return abis[slices.IndexFunc(abis, func(a abi) bool { return a.knows(fs, net, scopes) })]
}

func needs(a abi, why string) string {
	s := fmt.Sprintf("Linux %s (Landlock ABI %d)", a.kernel, a.version)
	if why != "" {
		s += "; " + why
	}
	return s
}
