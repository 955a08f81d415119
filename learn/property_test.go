package learn

import (
	"fmt"
	"math/rand/v2"
	"path"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"psb/policy"
)

// streams is how many runs are made up for each property; run N comes from seed N.
const streams = 300

// madeUp is the machine of the runs that are made up.
func madeUp() Knowledge {
	m := policy.Macros{Project: "/home/ann/app", Home: "/home/ann", Tmp: "/tmp", Cache: "/home/ann/.cache", Config: "/home/ann/.config", Data: "/home/ann/.local/share", Run: "/run/user/7"}
	return Knowledge{Macros: m, Homes: []string{"/home/ann"}, Program: []string{"/home/ann/app/app.py"}, Always: []string{"/usr/lib/", "/etc/ssl/certs/"},
		Runs: []string{"/usr/bin/python3"}, Private: append(FixedPrivate(), "/run/"), Floor: []string{"/home/ann/.ssh", "/home/ann/.netrc"},
		Guarded: []string{"/home/ann/.bashrc", "/home/ann/app/.py-sandboxes"}, Tables: map[string]bool{"env": true, "files": true, "net": true, "syscalls": true},
		Syscall: func(name string) bool { return name == "mkdir" }, SetEnv: func(name string) bool { return strings.HasPrefix(name, "SET") },
		Entries: func(dir string) []string {
			if path.Base(dir) == "many" {
				return []string{"a", "b", "c", "d", "e", "f", "sub/"}
			}
			return nil
		},
		Exists: func(object string) bool { return len(object)%2 == 0 }}
}

var (
	someFolders = []string{"/", "/etc", "/etc/app", "/usr/lib/python3", "/usr/share/zoneinfo", "/usr/share/fonts/x", "/opt/tool", "/srv/www/x", "/tmp", "/tmp/x", "/dev", "/dev/shm",
		"/home/ann", "/home/ann/.ssh", "/home/ann/.cache", "/home/ann/.cache/app/v1/ab", "/home/ann/.config/app", "/home/ann/app", "/home/ann/app/data", "/home/ann/app/many",
		"/home/ann/app/many/sub", "/home/ann/app/out", "/home/ann/app/out/new", "/home/ann/app/out/new/deep", "/home/ann/app/__pycache__", "/home/ann/other", "/run/user/7/x"}
	someNames = []string{"a", "b", "c", "d", "e", "x.csv", "mod.py", "x.pyc", ".env", ".hidden", "id_key.pem", "tmpab12cd34", "9f86d081884c7d65", "run-4711.log", "null", "odd name", "é", "\xff",
		"${x}", "~", "#!", "app.py", ".bashrc", ".netrc", ".py-sandboxes", "new", "deep"}
	someHosts = []string{"pypi.org:443", "127.0.0.1:5432", "10.1.2.3:80", "udp://192.0.2.1:53", "198.18.0.4:80", "169.254.169.254:80", "0.0.0.0:8080", "127.0.0.1:40001", "unix:/run/x.sock",
		"unix:@abstract", "[::1]:80", "nonsense"}
	someErrors = []Errno{"ENOENT", "EACCES", "EEXIST", "EROFS", "ENOTDIR", "EIO"}
	someFuncs  = []string{"app.load", "app.main", "lib.read", "zz", ""}
)

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

// disk is what stands where while a run is made up, so that it does nothing that no system would let it do.
type disk struct {
	r    *rand.Rand
	kind map[string]string // "", "file", "dir"
}

func (d *disk) at(object string) string {
	if k, had := d.kind[object]; had || object == "/" {
		return map[bool]string{true: "dir", false: k}[object == "/"]
	}
	kind := pick(d.r, []string{"file", "file", "", "dir"})
	switch {
	case d.at(path.Dir(object)) != "dir":
		kind = ""
	case slices.ContainsFunc(someFolders, func(f string) bool { return atOrBelow(f, object) }) && d.r.IntN(4) > 0:
		kind = "dir"
	}
	d.kind[object] = kind
	return kind
}

func (d *disk) empty(dir string) bool {
	for o, k := range d.kind {
		if k != "" && below(o, dir) {
			return false
		}
	}
	return true
}

// invent makes one run up.
func invent(seed uint64) []Event {
	r := rand.New(rand.NewPCG(seed, 42))
	d := &disk{r, map[string]string{}}
	threads := []int{100}
	out := []Event{Spawned{Child: 100, PID: 1}}
	for range 20 + r.IntN(120) {
		tid := pick(r, threads)
		switch n := r.IntN(40); {
		case n == 0:
			threads = append(threads, 100+len(threads))
			out = append(out, Spawned{TID: tid, Child: threads[len(threads)-1], PID: 4700 + len(threads)})
		case n == 1:
			out = append(out, Called{TID: tid, Name: pick(r, []string{"mkdir", "mlock", "quotactl", "b ad"})})
		case n == 2:
			out = append(out, Refused{TID: tid, Name: pick(r, []string{"ptrace", "mlock"}), Errno: "EPERM"})
		case n == 3:
			out = append(out, Noted{TID: tid, Text: fmt.Sprintf(`{"e":"env","a":[%q,%q],"f":%q}`, pick(r, []string{"SET_A", "SET_TOKEN", "LD_PRELOAD", "UNSET", "odd="}), pick(r, []string{"set", "unset"}), pick(r, someFuncs))})
		case n < 8:
			e := Accessed{TID: tid, Access: policy.Access{Op: pick(r, []policy.Op{policy.OpConnect, policy.OpConnect, policy.OpPrivate, policy.OpListen}), Object: pick(r, someHosts)}}
			if r.IntN(3) == 0 {
				e.Errno = pick(r, someErrors)
			}
			out = append(out, e)
		default:
			out = append(out, d.access(tid)...)
		}
	}
	return out
}

// access makes up what a thread does with one name, often with a note before it.
func (d *disk) access(tid int) []Event {
	r := d.r
	dir := pick(r, someFolders)
	e := Accessed{TID: tid, Access: policy.Access{Object: path.Join(dir, pick(r, someNames))}}
	object := e.Access.Object
	did := func(op policy.Op, how How, then string) {
		e.Access.Op, e.How = op, how
		if r.IntN(5) == 0 {
			e.Errno = pick(r, someErrors)
		} else {
			d.kind[object] = then
		}
	}
	switch kind, n := d.at(object), r.IntN(10); {
	case d.at(dir) == "dir" && n == 0:
		e.Access.Object = dir
		did(policy.OpList, Plain, d.at(object))
	case d.at(dir) == "dir" && n == 1 && dir != "/dev":
		e.Access.Object = dir
		did(policy.OpCreate, Unnamed, d.at(object))
	case kind == "file" && n < 5:
		did(pick(r, []policy.Op{policy.OpRead, policy.OpRead, policy.OpExec}), Plain, "file")
		if e.Access.Op == policy.OpRead && e.Errno == "" && r.IntN(8) == 0 {
			e.Target, e.Links = path.Join(pick(r, someFolders[4:]), "target"), []string{object}
		}
	case kind == "file" && n < 7:
		did(policy.OpWrite, pick(r, []How{Plain, Meta}), "file")
	case kind == "file":
		did(policy.OpWrite, Remove, "")
	case kind == "dir" && n < 5:
		did(policy.OpList, Plain, "dir")
	case kind == "dir" && n == 5:
		did(policy.OpWrite, Meta, "dir")
	case kind == "dir" && n < 8 && d.empty(object):
		did(policy.OpWrite, RemDir, "")
	case kind == "dir":
		e.Access.Op, e.How, e.Errno = policy.OpWrite, NewDir, "EEXIST"
	case d.at(path.Dir(object)) == "dir" && n < 7:
		did(policy.OpWrite, New, "file")
	case d.at(path.Dir(object)) == "dir":
		did(policy.OpWrite, NewDir, "dir")
	default:
		e.Access.Op, e.Errno = policy.OpRead, "ENOENT"
	}
	if r.IntN(2) == 0 {
		return []Event{e}
	}
	text := fmt.Sprintf(`{"e":%q,"a":[%q],"f":%q,"l":%q}`, pick(r, []string{"open", "list", "change", "exec"}), path.Base(e.Access.Object), pick(r, someFuncs), pick(r, []string{"", "pandas"}))
	return []Event{Noted{TID: tid, Text: text}, e}
}

// eachRun gives runs that are made up, with the policy learned from each.
func eachRun(t *testing.T, do func(t *testing.T, events []Event, k Knowledge, grants []Grant, report *Report, p *policy.Policy)) {
	for seed := range uint64(streams) {
		events, k := invent(seed), madeUp()
		grants, report := Generalise(setOf(events), k)
		p := policyOf(t, k, Rules(grants))
		do(t, events, k, grants, report, p)
		if t.Failed() {
			t.Fatalf("seed %d, the rules are\n%s%s", seed, ruleLines(grants), strings.Join(report.Lines(), "\n"))
		}
	}
}

func policyOf(t *testing.T, k Knowledge, rules []policy.Rule) *policy.Policy {
	t.Helper()
	text, _, err := policy.Edit(policy.New("test"), rules)
	if err != nil {
		t.Fatalf("%v\n%+v", err, rules)
	}
	p, err := policy.Parse(k.Macros.Project+"/.py-sandboxes", text)
	if err == nil {
		p, err = p.Expand(k.Macros)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return p
}

// What a run did with success its policy allows, but for what needs no rule and what the report names.
func TestLearnedAllowsWhatWasSeen(t *testing.T) {
	eachRun(t, func(t *testing.T, events []Event, k Knowledge, _ []Grant, report *Report, p *policy.Policy) {
		set := setOf(events)
		for a := range set.observed() {
			if p.Decide(a).Allowed || answered(set, k, report, p, a) {
				continue
			}
			t.Errorf("not allowed, and not told: %s", a)
		}
	})
}

// answered gives the reasons for which an access has no rule.
func answered(set *Set, k Knowledge, report *Report, p *policy.Policy, a policy.Access) bool {
	told := func(text string) bool {
		return slices.ContainsFunc(report.Left, func(l string) bool {
			return strings.HasSuffix(l, " "+text) || strings.Contains(l, " "+text+", ") || strings.Contains(l, " "+text+": ")
		})
	}
	switch a.Op {
	case policy.OpEnv:
		return !k.SetEnv(a.Object) || !variableName(a.Object)
	case policy.OpSyscall:
		_, err := policy.ParseAccess(a.String())
		return err != nil || k.Syscall(a.Object) || report.Calls[a.Object] > 0
	case policy.OpConnect, policy.OpPrivate, policy.OpListen:
		_, floor := report.Floor[a]
		_, addr, port, udp, ok := hostPort(a.Object)
		own := strings.HasPrefix(a.Object, "unix:") || a.Op != policy.OpConnect || !ok // a socket of its own, a port that the kernel chose
		if a.Op == policy.OpListen && ok && addr.IsValid() && !udp && port < firstFree {
			return false
		}
		return floor || told(a.Object) || own
	}
	object := strings.TrimSuffix(a.Object, "/")
	f, dir := set.files[object], dirOf(object)
	if f == nil { // where a link led: the rule is on the link
		return true
	}
	write := policy.Access{Op: policy.OpWrite, Object: object}
	_, floor := report.Floor[write]
	create := p.Decide(policy.Access{Op: policy.OpCreate, Object: object}).Allowed
	switch {
	case k.Given(a), k.Given(policy.Access{Op: policy.OpRead, Object: object}), match(k.Program, object) >= 0, k.guarded(object) && floor:
		return true
	case strings.Contains(object+f.target, "/__pycache__"), !(&ladder{k: &k}).nameable(object):
		return true
	case f.target != "" && (p.Decide(policy.Access{Op: a.Op, Object: f.target}).Allowed || k.Given(policy.Access{Op: a.Op, Object: f.target}) || told(k.written(f.target, false))):
		return true // a link that the box may set does not count
	case create && (f.made && (f.gone || perRun(baseOf(object), set.pids)) || f.removed && f.dir): // the folder's right speaks for such names
		return true
	case f.dir && f.meta, a.Op == policy.OpRead && f.dir, a.Op == policy.OpCreate && p.Decide(write).Allowed:
		return true // a folder is listed, not read; a name that may be written is made or replaced where its folder has the right, or by psb itself
	}
	for up := object; up != "/"; up = dirOf(up) {
		if told(k.written(up, false)) || told(k.written(up, true)) || madeFolderSpeaks(set, p, up) {
			return true
		}
	}
	return dir == "/" && told("/")
}

// madeFolderSpeaks: the run made the folder and took it away, or it has a name of one run: new names in the folder around it are all that is needed.
func madeFolderSpeaks(set *Set, p *policy.Policy, dir string) bool {
	f := set.files[dir]
	return f != nil && f.made && f.dir && p.Decide(policy.Access{Op: policy.OpCreate, Object: dir}).Allowed
}

// Every rule is there for something that was seen.
func TestEveryRuleCoversSomething(t *testing.T) {
	eachRun(t, func(t *testing.T, events []Event, k Knowledge, grants []Grant, _ *Report, _ *policy.Policy) {
		set := setOf(events)
		seen := set.observed()
		for _, f := range set.files {
			if f.wanted {
				seen[policy.Access{Op: policy.OpList, Object: f.object}] = true
			}
			if f.read { // byte code speaks for its source
				seen[policy.Access{Op: policy.OpRead, Object: source(f.object)}] = true
			}
		}
		for _, g := range grants {
			alone := policyOf(t, k, Rules([]Grant{g}))
			used := false
			for a := range seen {
				used = used || alone.Decide(a).Allowed
			}
			if _, _, port, _, ok := hostPort(g.Access.Object); !used && (g.Access.Op != policy.OpListen || !ok || port != 0) {
				t.Errorf("covers nothing that was seen: %s", g.Access)
			}
		}
	})
}

// The order in which threads come, and what the program says of itself, change no right; and twice the same is the same.
func TestOrderAndNotesGrantNothing(t *testing.T) {
	eachRun(t, func(t *testing.T, events []Event, k Knowledge, grants []Grant, report *Report, _ *policy.Policy) {
		set := setOf(events)
		for range 2 {
			if again, reportAgain := Generalise(set, k); !reflect.DeepEqual(again, grants) || !reflect.DeepEqual(reportAgain, report) {
				t.Errorf("again:\n%s", ruleLines(again))
			}
		}
		other, otherReport := Generalise(setOf(shuffle(events, rand.New(rand.NewPCG(7, 7)))), k)
		if !reflect.DeepEqual(other, grants) || !reflect.DeepEqual(otherReport, report) {
			t.Errorf("another order of threads:\n%s", ruleLines(other))
		}
		silent := slices.DeleteFunc(slices.Clone(events), func(e Event) bool { _, note := e.(Noted); return note })
		bare, _ := Generalise(setOf(silent), k)
		rights := func(list []Grant) (out []string) {
			for _, g := range list {
				if g.Access.Op != policy.OpEnv {
					out = append(out, g.Access.String()+" "+g.Text+" "+g.Alert)
				}
			}
			return out
		}
		if !slices.Equal(rights(bare), rights(grants)) {
			t.Errorf("without notes:\n%s", ruleLines(bare))
		}
	})
}

// A record of a run gives its policy and its report.
func TestRecordOfAnyRun(t *testing.T) {
	eachRun(t, func(t *testing.T, events []Event, k Knowledge, grants []Grant, report *Report, p *policy.Policy) {
		text, _, _ := recorded(t, events, k)
		run := readRun(t, text)
		again, reportAgain := Generalise(run.Set, run.Knowledge())
		if !reflect.DeepEqual(again, grants) || !reflect.DeepEqual(reportAgain, report) {
			t.Errorf("replayed:\n%s", ruleLines(again))
		}
		var usage Usage
		usage.Count(p, run)
		if unused := usage.Unused(p); len(unused) > 0 {
			t.Errorf("called unused by the run that it was learned from: %v", unused)
		}
	})
}

// However long a run is, and however many names it uses, what is kept of it is bounded, and the report tells what was too much.
func TestBounded(t *testing.T) {
	for _, tt := range []struct {
		name   string
		object func(i int) (policy.Op, How, string)
		want   []string // rules
		left   []string
	}{
		{"few names", func(i int) (policy.Op, How, string) { return policy.OpRead, Plain, fmt.Sprintf("/p/data/%d", i%5) }, []string{"read data/"}, nil},
		{"new names of one folder", func(i int) (policy.Op, How, string) {
			return policy.OpWrite, []How{New, Remove}[i%2], fmt.Sprintf("/p/out/%d.part", i/2)
		}, []string{"create out/"}, []string{"names in out/ beyond 16384: too many for rules of their own"}},
		{"names of one folder", func(i int) (policy.Op, How, string) { return policy.OpRead, Plain, fmt.Sprintf("/p/data/%07d", i) }, []string{"read data/"},
			[]string{"names in data/ beyond 16384: too many for rules of their own"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			set := NewSet()
			for i := range 10_000_000 {
				op, how, object := tt.object(i)
				set.Add(Accessed{TID: 1, Access: policy.Access{Op: op, Object: object}, How: how})
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			if kept := int64(after.HeapAlloc) - int64(before.HeapAlloc); kept > 32<<20 {
				t.Errorf("%d MB are kept of ten million events", kept>>20)
			}
			grants, report := Generalise(set, Knowledge{Macros: policy.Macros{Project: "/p", Home: "/h"}, Tables: map[string]bool{"files": true}})
			var got []string
			for _, g := range grants {
				got = append(got, string(g.Access.Op)+" "+g.Text)
			}
			if !slices.Equal(got, tt.want) || !slices.Equal(report.Left, tt.left) {
				t.Errorf("rules %q, left %q, want %q, %q", got, report.Left, tt.want, tt.left)
			}
			runtime.KeepAlive(set)
		})
	}
}

// Of too many folders, addresses and variables as well.
func TestBoundedEverywhere(t *testing.T) {
	set := NewSet()
	for i := range 300_000 {
		set.Add(Accessed{TID: 1, Access: policy.Access{Op: policy.OpRead, Object: fmt.Sprintf("/p/%d/x/%d", i%60_000, i)}})
	}
	for i := range 20_000 {
		set.Add(Accessed{TID: 1, Access: policy.Access{Op: policy.OpConnect, Object: fmt.Sprintf("10.0.%d.%d:80", i/256, i%256)}})
		set.Add(Noted{TID: 1, Text: fmt.Sprintf(`{"e":"env","a":["V%d","unset"]}`, i)})
		set.Add(Refused{TID: 1, Name: fmt.Sprint("call", i)})
	}
	if len(set.files) > mostFacts || len(set.folds) > mostFolds+1 || len(set.others) > mostOthers || len(set.env) > mostReads || len(set.refused) > mostRefused {
		t.Errorf("%d files, %d folds, %d addresses, %d variables, %d calls", len(set.files), len(set.folds), len(set.others), len(set.env), len(set.refused))
	}
	_, report := Generalise(set, Knowledge{Macros: policy.Macros{Project: "/p", Home: "/h"}, Tables: map[string]bool{"files": true}})
	for _, want := range []string{"addresses: too many to remember", "refused calls: too many to remember", "variables: too many to remember"} {
		if !slices.Contains(report.Left, want) {
			t.Errorf("not told: %s", want)
		}
	}
	if !slices.ContainsFunc(report.Left, func(l string) bool { return strings.HasPrefix(l, "names in ") }) {
		t.Error("folded names are not told")
	}
}

// Which names are kept does not depend on the order in which they come.
func TestFoldedInAnyOrder(t *testing.T) {
	var events []Event
	for i := range mostNames + 500 {
		events = append(events, Accessed{TID: i % 7, Access: policy.Access{Op: policy.OpWrite, Object: fmt.Sprintf("/p/out/%d", i)}, How: New})
	}
	k := Knowledge{Macros: policy.Macros{Project: "/p", Home: "/h"}, Tables: map[string]bool{"files": true}}
	grants, report := Generalise(setOf(events), k)
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
	other, otherReport := Generalise(setOf(events), k)
	if !reflect.DeepEqual(grants, other) || !reflect.DeepEqual(report, otherReport) || len(grants) != mostNames+1 {
		t.Errorf("%d rules, then %d", len(grants), len(other))
	}
}
