package learn

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"psb/policy"
)

// Names get other addresses in every run, inside the box and outside; the rules stay the same.
func TestAddressesRotate(t *testing.T) {
	a, err := txtar.ParseFile(filepath.Join("testdata", "net_connects.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	k := readKnowledge(t, section(a, "knowledge"))
	turned := bytes.ReplaceAll(section(a, "events"), []byte(`[\"198.18.0.`), []byte(`[\"198.19.77.`))
	if bytes.Equal(turned, section(a, "events")) {
		t.Fatal("no address to turn")
	}
	grants, _ := Generalise(setOf(replay(t, turned)), k)
	if got := ruleLines(grants); got != string(section(a, "rules")) {
		t.Errorf("got\n%s", got)
	}
}

// A policy that was learned is not touched by the next run, also where one of its lines is wider.
func TestLearnNetAgain(t *testing.T) {
	k := Knowledge{Macros: policy.Macros{Project: "/p/app"}, Tables: map[string]bool{"net": true}}
	events := []Event{did("connect", "db.corp.example:5432", Plain), did("private", "db.corp.example:5432", Plain), did("connect", "a.example.org:443", Plain), did("listen", "127.0.0.1:45000", Plain)}
	for _, c := range []struct{ before, want string }{
		{"", "\"a.example.org:443\" = \"connect\"  # python\n\"db.corp.example:5432\" = [\"connect\", \"private\"]  # ! leads into the own networks; python\n\"127.0.0.1:0\" = \"listen\"  # python\n"},
		{"\"*.org:443,80\" = \"connect\"\n\"db.corp.example:5432,5433\" = [\"connect\", \"private\"]\n\"127.0.0.1:*\" = \"listen\"\n", ""},
		{"\"*:443\" = \"connect\"\n\"*.corp.example:*\" = \"connect\"\n\"127.0.0.1:0\" = \"listen\"\n", "\"db.corp.example:5432\" = [\"connect\", \"private\"]  # ! leads into the own networks; python\n"},
	} {
		text := []byte("[net]\n" + c.before)
		for run := range 2 {
			p, err := policy.Parse("/p/app/.py-sandboxes", text)
			if err == nil {
				p, err = p.Expand(k.Macros)
			}
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			grants, _ := Generalise(setOf(events), k)
			missing := Missing(grants, func(a policy.Access) bool { return p.Decide(a).Allowed })
			after, changes, err := policy.Edit(text, Rules(missing))
			if err != nil || run == 1 && (len(missing) > 0 || len(changes) > 0 || !bytes.Equal(after, text)) {
				t.Fatalf("run %d: %v, %v, %v\n%s", run, err, missing, changes, after)
			}
			text = after
		}
		for _, line := range strings.SplitAfter("[net]\n"+c.before+c.want, "\n") {
			if !bytes.Contains(text, []byte(line)) {
				t.Errorf("%q is not in\n%s", line, text)
			}
		}
		if len(text) != len("[net]\n"+c.before+c.want) {
			t.Errorf("got\n%s", text)
		}
	}
}

func TestNotesOnTheNetwork(t *testing.T) {
	for _, c := range []struct {
		note   string // event, arguments
		op     policy.Op
		object string
		want   bool
	}{
		{"connect 198.18.0.5 443", "connect", "pypi.org:443", true},
		{"connect 198.18.0.5 443", "private", "pypi.org:443", true},
		{"connect 198.18.0.5 443", "connect", "udp://pypi.org:443", true},
		{"connect 198.18.0.5 443", "connect", "pypi.org:80", false},
		{"connect pypi.org 443", "connect", "pypi.org:443", true},
		{"connect PyPI.org. 443", "connect", "pypi.org:443", true},
		{"connect example.org 443", "connect", "pypi.org:443", false},
		{"connect pypi.org 443", "connect", "151.101.0.223:443", true}, // told by a tracer
		{"connect 10.1.2.3 5432", "connect", "10.1.2.3:5432", true},
		{"connect ::ffff:10.1.2.3 5432", "connect", "10.1.2.3:5432", true},
		{"connect 10.1.2.3 5432", "connect", "10.1.2.4:5432", false},
		{"connect fd00::7 22", "connect", "[fd00::7]:22", true},
		{"connect localhost 80", "connect", "127.0.0.1:80", true},
		{"connect 198.18.0.5 443", "listen", "0.0.0.0:443", false},
		{"connect 198.18.0.5 443", "connect", "unix:/run/x", false},
		{"connect unix /run/x", "connect", "unix:/run/x", true},
		{"connect unix x", "connect", "unix:/home/ann/app/x", true},
		{"connect unix y", "connect", "unix:/home/ann/app/x", false},
		{"connect unix 443", "connect", "pypi.org:443", false},
		{"connect unix", "connect", "unix:/run/x", false},
		{"resolve pypi.org 443", "connect", "pypi.org:443", true},
		{"resolve PyPI.org. https", "connect", "pypi.org:443", true},
		{"resolve pypi.org None", "private", "pypi.org:443", true},
		{"resolve pypi.org 0", "connect", "pypi.org:443", true},
		{"resolve pypi.org 80", "connect", "pypi.org:443", false},
		{"resolve example.org 443", "connect", "pypi.org:443", false},
		{"resolve pypi.org 443", "connect", "1.1.1.1:443", false},
		{"resolve pypi.org 443", "listen", "pypi.org:443", false},
		{"bind 127.0.0.1 5000", "listen", "127.0.0.1:5000", true},
		{"bind localhost 5000", "listen", "[::1]:5000", true},
		{"bind 0.0.0.0 5000", "listen", "0.0.0.0:5000", true},
		{"bind 127.0.0.1 5001", "listen", "127.0.0.1:5000", false},
		{"bind 127.0.0.1 5000", "write", "/home/ann/app/x", false},
		{"bind unix own.sock", "write", "/home/ann/app/own.sock", true},
		{"bind unix own.sock", "write", "/home/ann/app/other", false},
		{"bind", "listen", "127.0.0.1:5000", false},
	} {
		words := strings.Fields(c.note)
		n := note{Event: words[0], Args: words[1:]}
		if got := n.fits(policy.Access{Op: c.op, Object: c.object}); got != c.want {
			t.Errorf("%q fits %s %s: %v", c.note, c.op, c.object, got)
		}
	}
}

func TestFailedPlacesAreBounded(t *testing.T) {
	var events []Event
	for i := range 100 {
		events = append(events, Accessed{TID: 1, Access: policy.Access{Op: policy.OpConnect, Object: fmt.Sprintf("192.0.2.1:%d", 100+i)}, Errno: "ECONNREFUSED"})
	}
	_, report := Generalise(setOf(events), Knowledge{Macros: policy.Macros{Project: "/p"}, Tables: map[string]bool{"net": true}})
	if n := len(report.Left); n != mostFailed+1 || report.Left[n-1] != "connecting to 192.0.2.1:119, which failed (ECONNREFUSED)" && report.Left[0] != "80 more places to reach or serve, which failed" {
		t.Errorf("%q", report.Left)
	}
}
