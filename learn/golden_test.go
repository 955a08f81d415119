package learn

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"psb/policy"
)

var update = flag.Bool("update", false, "rewrite the rules and report sections of testdata/*.txtar")

// section gives one file of an archive.
func section(a *txtar.Archive, name string) []byte {
	for _, f := range a.Files {
		if f.Name == name {
			return f.Data
		}
	}
	return nil
}

// readKnowledge reads lines "word value".
func readKnowledge(t *testing.T, text []byte) Knowledge {
	t.Helper()
	entries := map[string][]string{}
	var set []string
	k := Knowledge{Tables: map[string]bool{"env": true, "files": true, "syscalls": true}, Private: FixedPrivate()}
	k.Syscall = func(name string) bool { return name != "odd" }
	k.SetEnv = func(name string) bool { return slices.Contains(set, name) }
	k.Entries = func(dir string) []string { return entries[dir] }
	for _, l := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		word, value, _ := strings.Cut(l, " ")
		switch word {
		case "project":
			k.Macros.Project = value
		case "home":
			k.Macros.Home = value
			k.Macros.Cache, k.Macros.Config, k.Macros.Data = value+"/.cache", value+"/.config", value+"/.local/share"
			for _, n := range []string{".ssh", ".aws", ".netrc"} {
				k.Floor = append(k.Floor, value+"/"+n)
			}
			k.Guarded = append(k.Guarded, value+"/.bashrc", value+"/.profile")
		case "venv":
			k.Macros.Venv = value
			k.Guarded = append(k.Guarded, value+"/")
		case "program":
			k.Program = append(k.Program, value)
		case "always":
			k.Always = append(k.Always, strings.Fields(value)...)
		case "runs":
			k.Runs = append(k.Runs, strings.Fields(value)...)
		case "shown":
			k.Shown = append(k.Shown, value)
		case "set":
			set = append(set, strings.Fields(value)...)
		case "made":
			k.Made = append(k.Made, value)
		case "bytecode":
			k.Bytecode = true
		case "entries":
			f := strings.Fields(value)
			entries[f[0]] = f[1:]
		case "no-table":
			delete(k.Tables, value)
		case "table":
			k.Tables[value] = true
		case "version":
			k.Python = value
		case "run":
			k.Macros.Run = value
			k.Private = append(k.Private, "/run/")
		default:
			t.Fatalf("knowledge: %q", l)
		}
	}
	k.Guarded = append(k.Guarded, k.Macros.Project+"/.py-sandboxes")
	return k
}

func replay(t *testing.T, text []byte) []Event {
	t.Helper()
	var out []Event
	full := append([]byte(recordHeader+"\n"), text...)
	if err := Replay(bytes.NewReader(full), func(e Event) { out = append(out, e) }); err != nil {
		t.Fatal(err)
	}
	return out
}

func setOf(events []Event) *Set {
	s := NewSet()
	for _, e := range events {
		s.Add(e)
	}
	return s
}

func ruleLines(grants []Grant) string {
	var b strings.Builder
	for _, r := range Rules(grants) {
		fmt.Fprintf(&b, "%q = %q", r.Pattern.Text, r.Op)
		if r.Why != "" {
			fmt.Fprintf(&b, "  # %s", r.Why)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func reportLines(r *Report) string {
	r.Added = nil
	lines := r.Lines()
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

func eachGolden(t *testing.T, do func(t *testing.T, file string, a *txtar.Archive, events []Event, k Knowledge)) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no testdata: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			do(t, file, a, replay(t, section(a, "events")), readKnowledge(t, section(a, "knowledge")))
		})
	}
}

func TestGolden(t *testing.T) {
	eachGolden(t, func(t *testing.T, file string, a *txtar.Archive, events []Event, k Knowledge) {
		grants, report := Generalise(setOf(events), k)
		got := map[string]string{"rules": ruleLines(grants), "report": reportLines(report)}
		if section(a, "policy") != nil { // what one line says is several rules
			text, _, err := policy.Edit(nil, Rules(grants))
			if err != nil {
				t.Fatal(err)
			}
			got["policy"] = string(text)
		}
		if len(grants) > 30 {
			t.Errorf("%d rules: too many to review", len(grants))
		}
		if *update {
			var files []txtar.File
			for _, f := range a.Files {
				if f.Name != "rules" && f.Name != "report" && f.Name != "policy" {
					files = append(files, f)
				}
			}
			a.Files = append(files, txtar.File{Name: "rules", Data: []byte(got["rules"])}, txtar.File{Name: "report", Data: []byte(got["report"])})
			if text, ok := got["policy"]; ok {
				a.Files = append(a.Files, txtar.File{Name: "policy", Data: []byte(text)})
			}
			if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
				t.Fatal(err)
			}
			return
		}
		for name, text := range got {
			if want := string(section(a, name)); text != want {
				t.Errorf("%s: got\n%s\nwant\n%s", name, text, want)
			}
		}
	})
}

// The rules make a policy that the one judge reads the same way, and adding them again changes no byte.
func TestPolicyFromRules(t *testing.T) {
	eachGolden(t, func(t *testing.T, _ string, _ *txtar.Archive, events []Event, k Knowledge) {
		grants, _ := Generalise(setOf(events), k)
		text, changes, err := policy.Edit(policy.New("test"), Rules(grants))
		if err != nil || len(changes) == 0 {
			t.Fatalf("%d changes, %v", len(changes), err)
		}
		again, changes, err := policy.Edit(text, Rules(grants))
		if err != nil || len(changes) != 0 || !bytes.Equal(text, again) {
			t.Errorf("adding the rules again: %v, %v\n%s", changes, err, again)
		}
		p, err := policy.Parse(k.Macros.Project+"/.py-sandboxes", text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if p, err = p.Expand(k.Macros); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if more := Missing(grants, func(a policy.Access) bool { return p.Decide(a).Allowed }); len(more) > 0 {
			t.Errorf("not allowed by its own rules: %+v\n%s", more, text)
		}
	})
}

// threadOf tells whose order an event belongs to.
func threadOf(e Event) int {
	switch e := e.(type) {
	case Accessed:
		return e.TID
	case Noted:
		return e.TID
	case Called:
		return e.TID
	case Refused:
		return e.TID
	case Executed:
		return e.TID
	case Exited:
		return e.TID
	case Spawned:
		return e.Child
	}
	return 0
}

// shuffle gives another order in which each thread, each object and each birth keeps its place relative to its own.
func shuffle(events []Event, r *rand.Rand) []Event {
	type ties struct{ keys []string }
	keys := make([]ties, len(events))
	for i, e := range events {
		keys[i].keys = []string{fmt.Sprint("thread ", threadOf(e))}
		switch e := e.(type) {
		case Accessed:
			keys[i].keys = append(keys[i].keys, e.Access.Object)
		case Spawned:
			keys[i].keys = append(keys[i].keys, fmt.Sprint("thread ", e.TID))
		case Executed:
			keys[i].keys = append(keys[i].keys, fmt.Sprint("thread ", e.Old))
		}
	}
	out := slices.Clone(events)
	for range 4 {
		for i := range len(out) - 1 { // neighbours that share nothing may change places
			if r.IntN(2) == 0 {
				continue
			}
			shared := false
			for _, k := range keys[i].keys {
				shared = shared || slices.Contains(keys[i+1].keys, k)
			}
			if !shared {
				out[i], out[i+1] = out[i+1], out[i]
				keys[i], keys[i+1] = keys[i+1], keys[i]
			}
		}
	}
	return out
}

func TestProperties(t *testing.T) {
	eachGolden(t, func(t *testing.T, _ string, _ *txtar.Archive, events []Event, k Knowledge) {
		set := setOf(events)
		grants, report := Generalise(set, k)
		again, _ := Generalise(set, k)
		if !reflect.DeepEqual(grants, again) {
			t.Error("generalising twice differs")
		}

		r := rand.New(rand.NewPCG(1, 2))
		for range 5 {
			other, otherReport := Generalise(setOf(shuffle(events, r)), k)
			if !reflect.DeepEqual(grants, other) || !reflect.DeepEqual(report, otherReport) {
				t.Errorf("another order of threads:\n%s\nwant\n%s", ruleLines(other), ruleLines(grants))
			}
		}

		// Without notes: the same rules, apart from those that rest on notes alone.
		var silent []Event
		for _, e := range events {
			if _, note := e.(Noted); !note {
				silent = append(silent, e)
			}
		}
		bare, _ := Generalise(setOf(silent), k)
		strip := func(gs []Grant) (out []string) {
			for _, g := range gs {
				if op := g.Access.Op; op != policy.OpEnv && tableOf(op) != "python" {
					out = append(out, fmt.Sprint(g.Access, g.Text, g.Alert, g.Seen, g.Of))
				}
			}
			return out
		}
		if !reflect.DeepEqual(strip(grants), strip(bare)) {
			t.Errorf("without notes:\n%s\nwant\n%s", ruleLines(bare), ruleLines(grants))
		}

		// A second learn of the same run finds nothing missing.
		given := map[policy.Access]bool{}
		for _, g := range grants {
			given[g.Access] = true
		}
		if more := Missing(grants, func(a policy.Access) bool { return given[a] }); len(more) != 0 {
			t.Errorf("missing after learning: %v", more)
		}

		// Never too much.
		for _, g := range grants {
			p := strings.TrimSuffix(g.Access.Object, "/")
			if g.Access.Op != policy.OpEnv && g.Access.Op != policy.OpSyscall && strings.HasSuffix(g.Access.Object, "/") && (p == "" || p == "/etc" || p == k.Macros.Home || p == k.Macros.Project && (g.Access.Op == policy.OpWrite || g.Access.Op == policy.OpRead)) {
				t.Errorf("rule on %s", g.Access)
			}
			if k.floor(p) || g.Access.Op == policy.OpWrite && k.guarded(p) {
				t.Errorf("rule on the floor: %s", g.Access)
			}
		}
	})
}

// The same program in another checkout gives the same file.
func TestOtherCheckout(t *testing.T) {
	eachGolden(t, func(t *testing.T, _ string, a *txtar.Archive, events []Event, k Knowledge) {
		project, elsewhere := k.Macros.Project, "/srv/other-place/of-it"
		move := func(b []byte) []byte {
			return bytes.ReplaceAll(b, []byte(project), []byte(elsewhere))
		}
		grants, _ := Generalise(setOf(events), k)
		moved, _ := Generalise(setOf(replay(t, move(section(a, "events")))), readKnowledge(t, move(section(a, "knowledge"))))
		if got, want := ruleLines(moved), ruleLines(grants); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	})
}
