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
	Func  string   `json:"f"`  // function or module of the program: "report.build"
	Lib   string   `json:"l"`  // library it called: "pandas"
	At    string   `json:"at"` // "file:line" of the program's own code that asked; "" when none did

	why   string   // reason, worded once
	bases []string // the last element of each of Args
}

// maxReason is the longest reason a note may give, in bytes.
const maxReason = 120

// parseNote reads a note; ok is false for anything that is none. The text is the program's: nothing in it is believed.
func parseNote(text string) (n note, ok bool) {
	if len(text) > MaxNote || json.Unmarshal([]byte(text), &n) != nil || n.Event == "" {
		return note{}, false
	}
	n.why = n.reason()
	for _, arg := range n.Args {
		n.bases = append(n.bases, path.Base(arg))
	}
	return n, true
}

// reason is "function, library", fit for a comment: printable and on one line.
func (n *note) reason() string {
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

// file is where the code stands that asked, "" when no code of the program did.
func (n *note) file() string {
	if i := strings.LastIndexByte(n.At, ':'); i > 0 && strings.Trim(n.At[i+1:], "0123456789") == "" {
		return n.At[:i]
	}
	return n.At
}

// wide reports a note that speaks for all of a folder, "data/*": the shim writes one when a line of the program goes through it.
func (n *note) wide() bool { return len(n.Args) == 1 && path.Base(n.Args[0]) == "*" }

// fits reports whether a note explains an access. Paths are compared by their last element: the note has the program's words,
// the access the kernel's. "db-journal" is explained by a note on "db", what is in the folder "data" by one on "data/*".
func (n *note) fits(a policy.Access) bool { return n.explains(a, path.Base(a.Object)) }

// explains is fits for one who has the last element of the object at hand, and asks many notes.
func (n *note) explains(a policy.Access, base string) bool {
	switch n.Event {
	case "open":
		return (a.Op == policy.OpRead || a.Op == policy.OpWrite || a.Op == policy.OpCreate || a.Op == policy.OpList) && n.means(a.Object, base)
	case "list":
		return a.Op == policy.OpList && n.means(a.Object, base)
	case "change":
		return (a.Op == policy.OpWrite || a.Op == policy.OpRead) && n.means(a.Object, base)
	case "exec":
		return a.Op == policy.OpExec // a search along PATH and links give it another name
	case "connect":
		return (a.Op == policy.OpConnect || a.Op == policy.OpPrivate) && n.reaches(a.Object)
	case "resolve":
		return (a.Op == policy.OpConnect || a.Op == policy.OpPrivate) && n.names(a.Object)
	case "bind":
		return a.Op == policy.OpListen && n.reaches(a.Object) || a.Op == policy.OpWrite && n.reaches("unix:"+a.Object)
	}
	return false
}

// means reports whether a note with paths is about an object.
func (n *note) means(object, base string) bool {
	for i, want := range n.bases {
		if rest, ok := strings.CutPrefix(base, want); ok && (rest == "" || rest[0] == '-' && len(want) > 2) {
			return true
		}
		if n.Args[i] == "." || want == "*" && path.Base(path.Dir(n.Args[i])) == path.Base(path.Dir(object)) {
			return true
		}
	}
	return false
}

// reaches reports whether a note with a host and a port, or a unix socket's path, means an address of [net]. Inside the box a name has
// an address of its own, so the port decides where one of the two has a name and the other an address.
func (n *note) reaches(object string) bool {
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
func (n *note) names(object string) bool {
	name, _, port, _, ok := hostPort(object)
	if !ok || len(n.Args) != 2 || name == "" || !sameName(n.Args[0], name) {
		return false
	}
	asked, err := strconv.Atoi(n.Args[1])
	return err != nil || asked == 0 || asked == port
}

func sameName(a, b string) bool { return strings.EqualFold(strings.TrimSuffix(a, "."), b) }
