package export

import (
	"fmt"
	"slices"

	"psb/policy"
	"psb/policy/plan"
	"psb/seccomp"
)

// Target is a tool that plans are written for.
type Target string

// The targets.
const (
	Bwrap      Target = "bwrap"
	Systemd    Target = "systemd"
	OCI        Target = "oci"
	Kubernetes Target = "kubernetes"
)

// Targets lists them, in the order in which they are shown.
func Targets() []Target { return []Target{Bwrap, Systemd, OCI, Kubernetes} }

// tool is how remarks call the target.
func (t Target) tool() string {
	return map[Target]string{Bwrap: "bubblewrap", Systemd: "systemd", OCI: "an OCI runtime", Kubernetes: "Kubernetes"}[t]
}

// Request is all that an export is made from.
type Request struct {
	Plan    *plan.Plan     // of an enforced run with namespaces, without shim
	Written *policy.Policy // as written, with includes: texts of [env] with their macros
	Macros  policy.Macros
	Root    bool            // the plan is root's: its ids inside are not those of the files
	Filter  seccomp.Filter  // without a listener, see Options
	Program seccomp.Program // Filter, compiled
	Name    string          // of the thing that is made: a pod, a host name; letters, digits and "-"
}

// Options is the filter of an export: no supervisor stands behind it, and what Landlock would hold is held by the other tool's pid namespace
// and session. arch and extra are the plan's.
func Options(arch seccomp.Arch, p *plan.Plan) seccomp.Options {
	return seccomp.Options{Arch: arch, LandlockABI: sessionABI, Extra: p.Syscalls, IDs: &seccomp.IDs{UID: p.Identity.UID, GID: p.Identity.GID}}
}

// sessionABI is the first of Landlock that keeps signals in; a session and a pid namespace of its own do the same.
const sessionABI = 6

// File is one file of an export; its name is relative to the folder of the export.
type File struct {
	Name string
	Mode uint32 // permission bits
	Data []byte
	Link string // the text of a symbolic link; then Data is empty
	Dir  bool
}

// Export is a plan in a target's words.
type Export struct {
	Files   []File // the one to read first comes first; parents before what they hold
	Remarks []Remark
}

// Make writes a plan in the words of a target. The error is a name that the target has no spelling for, or more than the target takes:
// nothing is half said.
func Make(t Target, r Request) (Export, error) {
	if r.Plan.Provider != plan.Namespaces || r.Plan.Mode != plan.Enforce {
		return Export{}, fmt.Errorf("export: a plan of provider %s", r.Plan.Provider)
	}
	m := maker{target: t, req: r, plan: r.Plan}
	var err error
	switch t {
	case Bwrap:
		err = m.bwrap()
	case Systemd:
		err = m.systemd()
	case OCI:
		err = m.oci()
	case Kubernetes:
		err = m.kubernetes()
	default:
		err = fmt.Errorf("export: unknown target %q", t)
	}
	if err != nil {
		return Export{}, err
	}
	return Export{m.files, m.remarks}, nil
}

// maker is one export on its way.
type maker struct {
	target  Target
	req     Request
	plan    *plan.Plan
	files   []File
	remarks []Remark
}

// add puts a file behind the others; a name that is there already stays as it is.
func (m *maker) add(f File) {
	if !slices.ContainsFunc(m.files, func(o File) bool { return o.Name == f.Name }) {
		m.files = append(m.files, f)
	}
}

// RootBecomes is who a program that root starts is under a target, where psb itself would map ids: bubblewrap shows root as an ordinary id
// in a user namespace, a runtime and systemd leave it root without capabilities, and a pod takes an id that owns nothing.
func RootBecomes(t Target) (uid, gid uint32) {
	switch t {
	case Bwrap:
		return plan.InsideID, plan.InsideID
	case Kubernetes:
		return plan.HostID, plan.HostID
	}
	return 0, 0
}
