package policy

import (
	"fmt"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Problem is one thing wrong with a policy file.
type Problem struct {
	File string // as named; "" when the text came from no file
	Line int    // from 1; 0 when the file as a whole is meant
	What string // what is wrong, and where one exists the nearest valid name
}

// String gives "file:line: what" on one line, with control characters escaped.
func (p Problem) String() string {
	what := printable(p.What)
	if len(what) > maxMessage {
		what = strings.ToValidUTF8(what[:maxMessage], "") + "…"
	}
	switch {
	case p.File == "" && p.Line == 0:
		return what
	case p.File == "":
		return fmt.Sprintf("line %d: %s", p.Line, what)
	case p.Line == 0:
		return fmt.Sprintf("%s: %s", printable(p.File), what)
	}
	return fmt.Sprintf("%s:%d: %s", printable(p.File), p.Line, what)
}

// maxMessage bounds a message in bytes: names in it come from the file.
const maxMessage = 600

// ParseError holds every problem of a policy and its includes, in reading order of the files and by line within
// each. It is never empty.
type ParseError struct {
	Problems []Problem
}

// Error gives one problem a line.
func (e *ParseError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// problems collects what is wrong; err gives nil when nothing is.
type problems struct {
	list []Problem
}

func (ps *problems) add(o Origin, format string, args ...any) {
	ps.list = append(ps.list, Problem{File: o.File, Line: o.Line, What: fmt.Sprintf(format, args...)})
}

func (ps *problems) err() error {
	if len(ps.list) == 0 {
		return nil
	}
	rank := map[string]int{}
	for _, p := range ps.list {
		if _, seen := rank[p.File]; !seen {
			rank[p.File] = len(rank)
		}
	}
	sort.SliceStable(ps.list, func(i, j int) bool {
		a, b := ps.list[i], ps.list[j]
		if a.File != b.File {
			return rank[a.File] < rank[b.File]
		}
		return a.Line < b.Line
	})
	return &ParseError{Problems: ps.list}
}

// printable escapes what a terminal or a reader could be fooled by: control characters, invisible and
// direction-changing characters, bytes that are not UTF-8.
func printable(s string) string {
	clean := true
	for _, r := range s {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case unicode.IsPrint(r):
			b.WriteString(s[i : i+n])
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
		i += n
	}
	return b.String()
}

// near gives `, did you mean "x"?` for the valid name closest to got, or a list of the valid names when they are
// few and none is close.
func near(got string, valid []string) string {
	if best := nearest(got, valid); best != "" {
		return fmt.Sprintf(", did you mean %q?", best)
	}
	return ", valid: " + strings.Join(valid, " ")
}

// nearest gives the valid name closest to got, "" when none is close.
func nearest(got string, valid []string) string {
	if synonym, ok := synonyms[strings.ToLower(got)]; ok {
		for _, v := range valid {
			if v == synonym {
				return v
			}
		}
	}
	best, bestDist := "", len(got)/3+1
	for _, v := range valid {
		d := distance(strings.ToLower(got), strings.ToLower(v))
		if d < bestDist || d == bestDist && best == "" {
			best, bestDist = v, d
		}
	}
	for _, v := range valid {
		if best == "" && (strings.HasPrefix(v, got) && len(got) >= 3 || strings.HasPrefix(got, v) && len(v) >= 3) {
			best = v
		}
	}
	return best
}

// synonyms are the words people bring from other tools.
var synonyms = map[string]string{
	"r": "read", "ro": "read", "rd": "read", "w": "write", "rw": "write", "readwrite": "write", "read-write": "write",
	"x": "exec", "rx": "exec", "execute": "exec", "run": "exec", "ls": "list", "dir": "list", "deny": "hide",
	"none": "hide", "block": "deny", "allow": "connect", "outbound": "connect", "bind": "listen", "inbound": "listen", "internal": "private", "intranet": "private", "lan": "private",
	"mkdir": "create", "open": "read", "delete": "write", "unlink": "write", "getenv": "env", "variable": "env",
	"timeout": "wall", "processes": "pids", "nofile": "open_files", "cpu": "cpus", "ram": "memory", "mem": "memory",
	"filesystem": "files", "fs": "files", "network": "net", "environment": "env", "imports": "python.import",
	"import": "python.import", "eval": "python.eval", "call": "python.call", "userns": "namespaces",
	"bubblewrap": "bwrap", "unshare": "namespaces", "subprocess": "none", "seccomp-bpf": "seccomp", "cgroup": "cgroups",
}

// distance is the number of single letters to insert, drop, change or swap between a and b, for names of a
// sensible length; longer ones are simply far apart.
func distance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return 64
	}
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return rows[len(a)][len(b)]
}
