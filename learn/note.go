package learn

import (
	"encoding/json"
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"psb/policy"
)

// note is one line of the shim.
type note struct {
	Event string   `json:"e"` // open list change exec connect bind resolve call import env error
	Args  []string `json:"a"`
	Func  string   `json:"f"` // function or module of the program: "report.build"
	Lib   string   `json:"l"` // library it called: "pandas"
}

// maxReason is the longest reason a note may give, in bytes.
const maxReason = 120

// parseNote reads a note; ok is false for anything that is none. The text is the program's: nothing in it is believed.
func parseNote(text string) (n note, ok bool) {
	if len(text) > MaxNote || json.Unmarshal([]byte(text), &n) != nil || n.Event == "" {
		return note{}, false
	}
	return n, true
}

// reason is "function, library", fit for a comment: printable and on one line.
func (n note) reason() string {
	parts := []string{}
	for _, s := range []string{n.Func, n.Lib} {
		s = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
			if !unicode.IsPrint(r) || r == unicode.ReplacementChar || r == '#' || r == '!' {
				return -1
			}
			return r
		}, s)), " ")
		if s != "" && !slices.Contains(parts, s) { // a library that is the program itself
			parts = append(parts, s)
		}
	}
	s := strings.Join(parts, ", ")
	if len(s) > maxReason {
		return ""
	}
	return s
}

// wide reports a note that speaks for all of a folder, "data/*": the shim writes one when a line of the program goes through it.
func (n note) wide() bool { return len(n.Args) == 1 && path.Base(n.Args[0]) == "*" }

// fits reports whether a note explains an access. Paths are compared by their last element: the note has the program's words,
// the access the kernel's. "db-journal" is explained by a note on "db", what is in the folder "data" by one on "data/*".
func (n note) fits(a policy.Access) bool {
	var ops []policy.Op
	switch n.Event {
	case "open":
		ops = []policy.Op{policy.OpRead, policy.OpWrite, policy.OpCreate, policy.OpList}
	case "list":
		ops = []policy.Op{policy.OpList}
	case "change":
		ops = []policy.Op{policy.OpWrite, policy.OpRead}
	case "exec":
		return a.Op == policy.OpExec // a search along PATH and links give it another name
	case "connect":
		return (a.Op == policy.OpConnect || a.Op == policy.OpPrivate) && n.reaches(a.Object)
	case "resolve":
		return (a.Op == policy.OpConnect || a.Op == policy.OpPrivate) && n.names(a.Object)
	case "bind":
		return a.Op == policy.OpListen && n.reaches(a.Object) || a.Op == policy.OpWrite && n.reaches("unix:"+a.Object)
	}
	for _, op := range ops {
		if op != a.Op {
			continue
		}
		for _, arg := range n.Args {
			want, have := path.Base(arg), path.Base(a.Object)
			if want == have || want == "*" && path.Base(path.Dir(arg)) == path.Base(path.Dir(a.Object)) || arg == "." || len(want) > 2 && strings.HasPrefix(have, want+"-") {
				return true
			}
		}
	}
	return false
}

// reaches reports whether a note with a host and a port, or a unix socket's path, means an address of [net]. Inside the box a name has
// an address of its own, so the port decides where one of the two has a name and the other an address.
func (n note) reaches(object string) bool {
	if len(n.Args) != 2 {
		return false
	}
	if sock, ok := strings.CutPrefix(object, "unix:"); ok {
		return n.Args[0] == "unix" && path.Base(n.Args[1]) == path.Base(sock)
	}
	name, addr, port, _, ok := hostPort(object)
	if !ok || n.Args[1] != strconv.Itoa(port) {
		return false
	}
	said, err := netip.ParseAddr(n.Args[0])
	switch {
	case err != nil && name != "":
		return sameName(n.Args[0], name)
	case err == nil && name == "":
		return said.Unmap().WithZone("") == addr || said.IsUnspecified()
	}
	return true
}

// names reports whether a note on a look-up gave the name of an address of [net]; its port may be a service's name, or none.
func (n note) names(object string) bool {
	name, _, port, _, ok := hostPort(object)
	if !ok || len(n.Args) != 2 || name == "" || !sameName(n.Args[0], name) {
		return false
	}
	asked, err := strconv.Atoi(n.Args[1])
	return err != nil || asked == 0 || asked == port
}

func sameName(a, b string) bool { return strings.EqualFold(strings.TrimSuffix(a, "."), b) }
