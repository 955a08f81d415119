package policy

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// words of small policies: a table, its keys, their values. What two of them allow can be tried access by access.
var vocabulary = []struct {
	table        string
	keys, values []string
}{
	{"env", []string{"X", "X_KEY", `"X*"`, `"?*"`, `"X_?EY"`}, []string{"", "", "true", "false"}},
	{"files", []string{`"a"`, `"a/"`, `"a/b"`, `"a/b/"`, `"${project}/a/b/c"`},
		[]string{"", "", "", `"read"`, `"write"`, `["read", "exec"]`, `"hide"`}},
	{"files", []string{`"${project}/"`, `"a/b/c/"`, `"a/b/c/d"`}, []string{"", "", `"read"`, `"write"`, `"exec"`}},
	{"files", []string{`"./a/b"`, `"**/c"`, `"a/*"`}, []string{"", "", `"hide"`}},
	{"files", []string{`"./"`, `"./a/"`, `"./a/b/"`}, []string{"", "", `"list"`, `"create"`, `["create", "list"]`}},
	{"net", []string{`"h.example.org:80"`, `"h.example.org:80,443"`, `"*.example.org:443"`, `"*:443"`, `"10.0.0.0/8:1-100"`, `"10.0.0.1:80"`},
		[]string{"", "", `"connect"`, `"listen"`, `"deny"`}},
	{"syscalls", []string{"mlock"}, []string{"", "true", "false"}},
	{"python.import", []string{`"p"`, `"p.q"`, `"*"`, `"ctypes"`, `"_ctypes"`}, []string{"", "", "true", "false"}},
	{"python.call", []string{`"threads"`, `"threading.Thread.start"`, `"os.kill"`}, []string{"", "", "true", "false"}},
	{"python.eval", []string{"call", "syntax"}, []string{"", "", `[]`, `["BinOp"]`, `["!BinOp"]`}},
	{"python.eval.x", []string{"syntax"}, []string{"", "", `["arith"]`, `["arith", "!BinOp"]`, `["BinOp", "UnaryOp"]`}},
}

// smallPolicy builds one from choices; each takes a byte, and none left means the first.
func smallPolicy(choices []byte) string {
	next := func(n int) int {
		if len(choices) == 0 {
			return 0
		}
		c := int(choices[0])
		choices = choices[1:]
		return c % n
	}
	tables := map[string]string{}
	for _, v := range vocabulary {
		for _, k := range v.keys {
			if value := v.values[next(len(v.values))]; value != "" {
				tables[v.table] += k + " = " + value + "\n"
			}
		}
	}
	var b strings.Builder
	for _, name := range sortedKeys(tables) {
		fmt.Fprintf(&b, "[%s]\n%s", name, tables[name])
	}
	return b.String()
}

func smallAccesses(dir string) []Access {
	var out []Access
	for _, op := range []Op{OpRead, OpWrite, OpExec, OpList, OpCreate} {
		for _, o := range []string{"a", "a/", "a/b", "a/b/", "a/b/c", "a/b/c/", "a/b/c/d", "a/b/c/e", "a/b/d", "a/x", "c", "z"} {
			out = append(out, Access{op, dir + "/" + o})
		}
	}
	for _, name := range []string{"X", "X_KEY", "X_1", "Y"} {
		out = append(out, Access{OpEnv, name})
	}
	for _, op := range []Op{OpConnect, OpListen} {
		for _, o := range []string{"h.example.org:80", "h.example.org:443", "x.example.org:443", "other.org:443", "10.0.0.1:80", "10.2.0.1:80", "10.2.0.1:443"} {
			out = append(out, Access{op, o})
		}
	}
	for _, o := range []string{"call:BinOp", "call:z", "syntax:BinOp", "syntax:arith", "x/syntax:BinOp", "x/syntax:UnaryOp", "x/syntax:arith"} {
		out = append(out, Access{OpEval, o})
	}
	for _, o := range []string{"threads", "threading.Thread.start", "_thread.start_new_thread", "os.kill", "os.fork"} {
		out = append(out, Access{OpCall, o})
	}
	return append(out, Access{OpSyscall, "mlock"}, Access{OpImport, "p"}, Access{OpImport, "p.q"}, Access{OpImport, "z"}, Access{OpImport, "_ctypes"}, Access{OpImport, "ctypes"})
}

// misses finds an access that the second policy allows, the first does not, and Compare says nothing of.
func misses(t *testing.T, last, next string) {
	t.Helper()
	a, b := fromText(t, "/w/p/old", last), fromText(t, "/w/p/new", next)
	list, err := Compare(a, b, func(r Rule) Risk { return RiskOf(r, riskMacros()) })
	if err != nil {
		t.Fatal(err)
	}
	m := Macros{Project: "/w/p", Home: "/h"}
	ax, errA := a.Expand(m)
	bx, errB := b.Expand(m)
	if errA != nil || errB != nil {
		t.Fatal(errA, errB)
	}
	more := slices.ContainsFunc(list, func(d Difference) bool { return d.Effect == More })
	fewer := slices.ContainsFunc(list, func(d Difference) bool { return d.Effect == Fewer })
	for _, acc := range smallAccesses("/w/p") {
		was, is := ax.Decide(acc).Allowed, bx.Decide(acc).Allowed
		if is && !was && !more || was && !is && !fewer {
			t.Fatalf("%v was %v and is %v, and of that nothing is said\n%s\n%s\n%v", acc, was, is, last, next, list)
		}
	}
}

// TestCompareMissesNothing tries pairs of small policies, many of them differing in one line alone.
func TestCompareMissesNothing(t *testing.T) {
	seed := uint32(1)
	random := func() byte {
		seed = seed*1664525 + 1013904223
		return byte(seed >> 24)
	}
	for range 1000 {
		choices := make([]byte, 45)
		for i := range choices {
			choices[i] = random()
		}
		other := slices.Clone(choices)
		for range 1 + random()%3 {
			other[int(random())%len(other)] = random()
		}
		misses(t, smallPolicy(choices), smallPolicy(other))
	}
}

func FuzzCompare(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7}, []byte{7, 6, 5, 4, 3, 2, 1})
	f.Fuzz(func(t *testing.T, last, next []byte) { misses(t, smallPolicy(last), smallPolicy(next)) })
}

// TestGlobCovers tries every pair of short globs on every short name.
func TestGlobCovers(t *testing.T) {
	words := func(letters string, most int) []string {
		out := []string{""}
		for from := 0; most > 0; most-- {
			for _, w := range out[from:] {
				from++
				for _, c := range letters {
					out = append(out, w+string(c))
				}
			}
		}
		return out
	}
	names := words("abc", 5)
	for _, p := range words("a*?", 4) {
		for _, asked := range words("a*?b", 3) {
			all := true
			for _, n := range names {
				all = all && (!globName(asked, n) || globName(p, n))
			}
			if got := globCovers(p, asked); got != all {
				t.Errorf("%q covers %q: %v, want %v", p, asked, got, all)
			}
		}
	}
}
