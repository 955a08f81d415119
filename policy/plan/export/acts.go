package export

import (
	"path"
	"slices"
	"strings"

	"psb/namespaces"
	"psb/policy/plan"
)

// actKind names one act of building a root, as every target knows it.
type actKind uint8

const (
	actDir    actKind = iota // a folder with a mode
	actFile                  // a file that psb makes, with its text
	actName                  // a name that cannot be opened: of a folder that may only be listed
	actLink                  // a symbolic link
	actTmpfs                 // private space
	actBind                  // an object of the host
	actHidden                // something that is there and not to be seen
	actSeal                  // the space at target becomes read-only
	actProc                  // its own processes
	actDev                   // devices: null zero full random urandom tty, terminals of its own, links to standard streams
	actQueue                 // message queues of its own
)

// act is one step, parents first.
type act struct {
	kind     actKind
	target   string
	source   string // actBind: host path; actLink: text
	readOnly bool
	device   bool // actBind of device nodes
	folder   bool // actName, actHidden, actBind: a folder
	mode     uint32
	size     uint64
	data     []byte
}

// acts are the plan's, in its order, without what is only psb's: its own folder inside, its masks, id maps.
func acts(p *plan.Plan) []act {
	var out []act
	made := map[string]namespaces.Op{}
	for _, op := range p.Spec.Ops {
		made[op.Target] = op
		if within(op.Target, plan.OwnDir) {
			continue
		}
		if a, ok := actOf(op, made, p.Spec.Ops); ok {
			out = append(out, a)
		}
	}
	return out
}

// ownDevices are those that every target has in /dev without a word.
var ownDevices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/fd", "/dev/stdin", "/dev/stdout", "/dev/stderr",
	"/dev/ptmx", "/dev/pts"}

func actOf(op namespaces.Op, made map[string]namespaces.Op, ops []namespaces.Op) (act, bool) {
	a := act{target: op.Target, source: op.Source, readOnly: op.ReadOnly, device: op.Dev, mode: op.Mode, size: op.Size, data: op.Data}
	if slices.Contains(ownDevices, op.Target) {
		return a, false
	}
	switch op.Kind {
	case namespaces.OpDir:
		a.kind = actDir
		if op.Mode == 0 {
			a.kind, a.folder = actName, true
		}
	case namespaces.OpFile:
		a.kind = actFile
		if op.Mode == 0 {
			a.kind = actName
		}
	case namespaces.OpSymlink:
		a.kind = actLink
	case namespaces.OpTmpfs:
		a.kind = actTmpfs
		if op.Target == "/dev" {
			a.kind = actDev
		}
	case namespaces.OpBind:
		a.kind, a.folder = actBind, op.Recursive
	case namespaces.OpBindIn:
		mask, isMask := made[op.Source]
		if isMask && within(op.Source, plan.OwnDir) {
			a.kind, a.folder = actHidden, mask.Kind == namespaces.OpDir
			break
		}
		a.kind, a.folder = actBind, op.Recursive
		a.source = behind(op.Source, ops)
	case namespaces.OpReadOnly:
		a.kind = actSeal
	case namespaces.OpProc:
		a.kind = actProc
	case namespaces.OpMqueue:
		a.kind = actQueue
	default:
		return a, false
	}
	return a, true
}

// behind is the host path that shows at a path inside.
func behind(inside string, ops []namespaces.Op) string {
	best := namespaces.Op{}
	for _, op := range ops {
		if op.Kind == namespaces.OpBind && within(inside, op.Target) && len(op.Target) >= len(best.Target) {
			best = op
		}
	}
	if best.Target == "" {
		return inside
	}
	return path.Join(best.Source, strings.TrimPrefix(inside, best.Target))
}

func within(p, dir string) bool {
	return p == dir || strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/")
}

// Writable are the host folders and files that the program may change: an export does not belong there.
func Writable(p *plan.Plan) []string {
	var out []string
	for _, op := range p.Spec.Ops {
		if op.Kind == namespaces.OpBind && !op.ReadOnly && !op.Dev {
			out = append(out, op.Source)
		}
	}
	return out
}

// missingParents are the folders above a target, topmost first, that no earlier act has made or shown.
func missingParents(earlier []act, target string) []string {
	var out []string
	for dir := path.Dir(target); dir != "/"; dir = path.Dir(dir) {
		if slices.ContainsFunc(earlier, func(a act) bool { return within(a.target, dir) || a.kind == actBind && within(dir, a.target) }) {
			break
		}
		out = append([]string{dir}, out...)
	}
	return out
}
