package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Attacks on the Python layer. Its refusals explain and bound; what holds is the kernel's. So each program is run twice: with the layer each
// try must be refused as its head says, and with it or without it nothing outside is reached.

const pythonAttackPrograms = "testdata/python_attacks/"

// pythonAttack is one program of testdata/python_attacks/script. Its head says the rules it is given and what must become of its tries:
//
//	#| LINE                  a line of its policy
//	#: TRY CLASS [OP OBJECT]  the try is refused with that exception, and psb tells the refusal (of one of OBJECT|OBJECT, by version);
//	                       CLASS * is any, - is not looked at
//	#= EFFECT…               what the control reaches outside: file (that is meant without a line), left, visitor; inside for nothing, crash
type pythonAttack struct {
	name, policy string
	tries        []pythonTry
	effects      []string
}

// pythonTry is what must become of one try.
type pythonTry struct {
	name, class string
	denied      string // "OP OBJECT", "" where psb tells nothing
}

func pythonAttacks(t *testing.T) (rows []pythonAttack) {
	t.Helper()
	for _, path := range regular(t, pythonAttackPrograms+"script") {
		a := pythonAttack{name: strings.TrimSuffix(filepath.Base(path), ".py")}
		if a.name == "tries" {
			continue
		}
		b, err := os.ReadFile(path)
		must(t, err)
		for line := range strings.Lines(string(b)) {
			mark, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			words := strings.Fields(rest)
			switch mark {
			case "#|":
				a.policy += rest + "\n"
			case "#=":
				a.effects = words
			case "#:":
				a.tries = append(a.tries, pythonTry{words[0], words[1], strings.Join(words[2:], " ")})
			}
		}
		if a.effects == nil {
			a.effects = []string{"file"}
		}
		rows = append(rows, a)
	}
	return rows
}

// pythonTarget is the world of one attack: what it may not reach, and a look at it from outside.
type pythonTarget struct {
	args    []string
	reached func(r result) []string
}

// target sets up what lies outside: a file, a folder, a host's server and a process.
func (s scene) target(t *testing.T) pythonTarget {
	t.Helper()
	server := listen(t, "tcp", "127.0.0.1:0")
	_, port, _ := strings.Cut(server.Addr().String(), ":")
	victim, alive := s.victim(t)
	before := regular(t, s.home)
	return pythonTarget{
		args: []string{s.outside(), port, strconv.Itoa(victim), s.sibling},
		reached: func(r result) (what []string) {
			if strings.Contains(r.out+r.err, "# "+s.token) {
				what = append(what, "file")
			}
			for _, name := range regular(t, s.home) {
				if !slices.Contains(before, name) && !strings.HasPrefix(name, s.home+"/.") && !strings.Contains(name, "/__pycache__/") {
					what = append(what, filepath.Base(name))
				}
			}
			if n := visitors(t, server); n > 0 {
				what = append(what, "visitor")
			}
			if !alive() {
				what = append(what, "victim")
			}
			return what
		},
	}
}

// besideRules are what every attack may read of its project: what stands in testdata/python_attacks/beside, and the module of tries.
const besideRules = `"./" = "list"
"tries.py" = "read"
"psb/" = "read"
"psb_evil/" = "read"
"psbx/" = "read"
"encodings_evil/" = "read"
"vendor/" = "read"
"tools/ifconfig" = "exec"
`

// pythonTries gives what the program said of each try: "reached" or the class of the exception.
func pythonTries(out string) map[string]string {
	got := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^(?:(reached) (\S+)|refused (\S+) (\S+))$`).FindAllStringSubmatch(out, -1) {
		if m[1] != "" {
			got[m[2]] = "reached"
		} else {
			got[m[3]] = m[4]
		}
	}
	return got
}

// TestPythonAttacks tries each program without psb, where each try must succeed, then with the Python layer and without it.
func TestPythonAttacks(t *testing.T) {
	slots := make(chan struct{}, atOnce)
	for _, a := range pythonAttacks(t) {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			slots <- struct{}{}
			defer func() { <-slots }()
			for _, who := range people() {
				s := newScene(t, who)
				which := "any"
				if !once() {
					which = "each"
				}
				pythons, err := s.choose(t, which, nil)
				ledger.Need(t, "python3", err)
				for _, python := range pythons {
					t.Run(who.name+"/"+python.version(), func(t *testing.T) { a.tryAll(t, who, python) })
				}
			}
		})
	}
}

func (a pythonAttack) tryAll(t *testing.T, who person, python interpreter) {
	s := newScene(t, who)
	if err := s.reaches(t, python, nil); err != nil {
		t.Skip(err)
	}
	if a.name == "remote_execution" && python.minor < 14 {
		t.Skip("sys.remote_exec came with 3.14")
	}
	if !t.Run("control", func(t *testing.T) { a.control(t, newScene(t, who), python) }) || controlOnly() {
		return // without a control that succeeds the rest proves nothing
	}
	for _, shim := range []bool{true, false} {
		t.Run(map[bool]string{true: "layer", false: "no layer"}[shim], func(t *testing.T) { a.boxed(t, newScene(t, who), python, shim) })
	}
}

// bring copies the program with what it needs into the project.
func (a pythonAttack) bring(t *testing.T, s scene, policy string) {
	t.Helper()
	for _, name := range []string{a.name, "tries"} {
		b, err := os.ReadFile(pythonAttackPrograms + "script/" + name + ".py")
		must(t, err)
		s.put(t, "home/code/project/"+map[bool]string{true: "tries", false: "attack"}[name == "tries"]+".py", string(b))
	}
	copyTree(t, pythonAttackPrograms+"beside", s.project)
	s.put(t, "home/code/project/.py-sandboxes", policy)
	s.give(t)
}

func (a pythonAttack) control(t *testing.T, s scene, python interpreter) {
	a.bring(t, s, "")
	target := s.target(t)
	argv := slices.Concat([]string{python.path, "attack.py"}, target.args, []string{"fork"})
	r := s.run(t, call{argv: argv, env: []string{"CANARY=" + s.outside(), "PYTHONWARNINGS=ignore"}})
	said := pythonTries(r.out)
	for _, try := range a.tries {
		if try.name != "-" && said[try.name] != "reached" {
			t.Errorf("control: without psb the try %s ends with %q, so it proves nothing", try.name, said[try.name])
		}
	}
	reached := target.reached(r)
	for _, effect := range a.effects {
		if effect == "crash" && r.signal == 0 || effect != "crash" && effect != "inside" && !slices.Contains(reached, effect) {
			t.Errorf("control: without psb no %s was reached (but %q), so it proves nothing", effect, reached)
		}
	}
	if t.Failed() {
		t.Log(r)
	}
}

func (a pythonAttack) boxed(t *testing.T, s scene, python interpreter, shim bool) {
	policy := "version = 1\n" + a.policy
	if !shim {
		policy = "version = 1\n" + withoutPythonTables(a.policy) + "[python]\nshim = false\n"
	}
	if !strings.Contains(policy, "[files]\n") {
		policy += "[files]\n"
	}
	policy = strings.Replace(policy, "[files]\n", "[files]\n"+besideRules, 1)
	a.bring(t, s, policy)
	target := s.target(t)
	argv := slices.Concat([]string{psb(t), "--policy", ".py-sandboxes", "--python", python.path, "attack.py"}, target.args)
	r := s.run(t, call{argv: argv, env: []string{"CANARY=" + s.outside(), "XDG_STATE_HOME=" + state(t, s.who)}})
	if reached := target.reached(r); len(reached) > 0 {
		t.Errorf("outside it reached %q", reached)
	}
	if !strings.HasPrefix(r.out, "started\n") {
		t.Fatalf("the attack never ran, so nothing is proved: %v", r)
	}
	said := pythonTries(r.out)
	for _, try := range a.tries {
		if try.class == "*" && (said[try.name] == "" || said[try.name] == "reached") || shim && try.class != "*" && try.class != "-" && said[try.name] != try.class {
			t.Errorf("the try %s ended with %q, want %s", try.name, said[try.name], try.class)
		}
		if shim && try.denied != "" && !toldDenied(r, try.denied) {
			t.Errorf("psb does not tell: denied: %s", try.denied)
		}
	}
	if slices.Contains(a.effects, "crash") && r.signal == 0 {
		t.Errorf("the crash is not what psb tells: status %s", r.status())
	}
	if t.Failed() {
		t.Log(r)
	}
}

// toldDenied reports whether psb told this refusal.
func toldDenied(r result, access string) bool {
	op, objects, _ := strings.Cut(access, " ")
	return slices.ContainsFunc(strings.Split(objects, "|"), func(object string) bool {
		return regexp.MustCompile(`(?m)^psb: denied: ` + regexp.QuoteMeta(op+" "+object) + `( \(.*\))?$`).MatchString(r.err)
	})
}

// withoutPythonTables leaves out what cannot stand beside shim = false.
func withoutPythonTables(policy string) string {
	var kept strings.Builder
	python := false
	for line := range strings.Lines(policy) {
		if strings.HasPrefix(line, "[") {
			python = strings.HasPrefix(line, "[python")
		}
		if !python {
			fmt.Fprint(&kept, line)
		}
	}
	return kept.String()
}
