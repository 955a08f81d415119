package integration

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// attack is one program and what it must not reach. The program is testdata/attack/NAME.py, NAME.c, or both; it prints "started" first,
// so that a run that was held back for another reason proves nothing, and "ready" before it waits for the end of its input, where
// something has to be looked at while it lives.
type attack struct {
	name   string   // of the program, without suffix, with its folder
	claim  string   // the heading of docs/threat-model.md; "" where psb makes none, and then notclaimed.toml says so
	policy string   // rules the attack is given; it must not get further than these
	gaps   []string // what an ordinary user without cgroups has to accept; the limit is then held by other means
	audit  bool     // under --audit, without a policy: nothing is refused, and nothing is to come of it
	alone  bool     // takes so much of the machine that no other attack runs beside it
	only   string   // the one person who can do it without psb; "" for everybody
	set    func(t *testing.T, s scene) attempt
}

// attempt is an attack made ready in one scene.
type attempt struct {
	args    []string
	control []string // arguments of the control run where they must differ, to keep the host whole
	env     []string
	options []string // of psb, beside the policy
	extra   []*os.File
	look    func()                    // at "ready"
	collect func(boxed bool)          // after the run: what the side outside then does, naively in the control
	got     func(result) (got string) // what it reached, as seen from outside; "" when it was held
}

// attacks are all rows, by ground.
func attacks() []attack {
	return slices.Concat(plainAttacks(), fileAttacks(), procAttacks(), environmentAttacks(), policyAttacks(), gitAttacks(), resultAttacks(),
		callAttacks(), networkAttacks(), resourceAttacks(), auditAttacks())
}

// variant is one way of running an attack.
type variant struct {
	name, lang string
	noShim     bool
	lite       bool // the landlock provider, without any namespace
}

// variants: the shim is no layer, so one run of Python without it per attack shows that; the lite provider is tried in one
// language, in C where there is a program in C.
var variants = []variant{
	{name: "python", lang: "py"}, {name: "python without shim", lang: "py", noShim: true}, {name: "c", lang: "c"},
	{name: "python lite", lang: "py", lite: true}, {name: "c lite", lang: "c", lite: true},
}

// inShort: without PSB_ROWS=all root goes with the shim, the ordinary user without it and under the lite provider.
func (v variant) inShort(who person) bool {
	root := who.uid == 0
	if os.Getuid() != 0 { // only one person is there
		return true
	}
	return v.lang == "c" && !v.lite || v.lang == "py" && !v.lite && v.noShim != root || v.lite && !root
}

// atOnce is how many attacks run beside one another.
const atOnce = 3

// campaign is what the attacks of one run share.
type campaign struct {
	bounds     notClaimed
	slots      chan struct{}
	mu         sync.Mutex
	python     map[string]string // the interpreter, by person
	tally      map[string]*outcome
	compileAll func() (string, error)
}

// TestAttacks tries each attack from Python with and without the shim, and from a compiled C program, as each person, and once more under
// the lite provider. First without psb, where it must succeed.
func TestAttacks(t *testing.T) {
	c := &campaign{bounds: readNotClaimed(t), slots: make(chan struct{}, atOnce), python: map[string]string{}, tally: map[string]*outcome{},
		compileAll: sync.OnceValues(compileAttacks)}
	rows := attacks()
	t.Cleanup(func() { c.report(t, rows) })
	// Those that want the machine for themselves run first: the others start when this function has returned.
	slices.SortStableFunc(rows, func(a, b attack) int { return rank(a) - rank(b) })
	for _, a := range rows {
		t.Run(a.name, func(t *testing.T) {
			if !a.alone {
				t.Parallel()
				c.slots <- struct{}{}
				defer func() { <-c.slots }()
			}
			for _, who := range people() {
				if a.only != "" && a.only != who.name {
					continue
				}
				t.Run(who.name, func(t *testing.T) {
					languages := a.languages()
					if len(languages) == 0 {
						t.Fatal("the attack has no program")
					}
					last := languages[len(languages)-1]
					for _, lang := range languages {
						if !t.Run("control "+lang, func(t *testing.T) { c.control(t, a, who, lang) }) || controlOnly() {
							continue // without a control that succeeds the rest proves nothing
						}
						for _, v := range variants {
							if v.lang == lang && (!v.lite || lang == last && !a.audit) && (!once() || v.inShort(who)) {
								t.Run(v.name, func(t *testing.T) { c.boxed(t, a, who, v) })
							}
						}
					}
				})
			}
		})
	}
}

func rank(a attack) int {
	if a.alone {
		return 0
	}
	return 1
}

// languages are those the attack has a program in.
func (a attack) languages() (list []string) {
	for _, lang := range []string{"py", "c"} {
		if _, err := os.Stat(a.file(lang)); err == nil {
			list = append(list, lang)
		}
	}
	return list
}

func (a attack) file(lang string) string { return "testdata/attack/" + a.name + "." + lang }

// control runs the attack without psb.
func (c *campaign) control(t *testing.T, a attack, who person, lang string) {
	s := newScene(t, who)
	s.bare = true
	argv, _, policy := c.launch(t, a, s, variant{lang: lang})
	at := a.arrange(t, s, policy)
	args := at.args
	if at.control != nil {
		args = at.control
	}
	r := s.watch(t, call{argv: append(argv, args...), env: at.env, extra: at.extra}, at.look)
	if at.collect != nil {
		at.collect(false)
	}
	if at.got(r) == "" {
		t.Fatalf("control: without psb the attack does not succeed, so it proves nothing: %v", r)
	}
}

// boxed runs it under its policy.
func (c *campaign) boxed(t *testing.T, a attack, who person, v variant) {
	s := newScene(t, who)
	_, argv, policy := c.launch(t, a, s, v)
	at := a.arrange(t, s, policy)
	words := slices.Concat(argv[:1], at.options, argv[1:])
	if argv[1] == "exec" {
		words = slices.Concat(argv[:2], at.options, argv[2:])
	}
	r := s.watch(t, call{argv: append(words, at.args...), env: at.env, extra: at.extra}, at.look)
	if at.collect != nil {
		at.collect(true)
	}
	got := at.got(r)
	started := strings.HasPrefix(r.out, "started\n")
	bound := c.bounds.covers(a.name, v)
	c.note(a, who.name+"/"+v.name, got, started, bound)
	if bound {
		t.Logf("not claimed here; it reached %q, started: %v", got, started)
		return
	}
	if got != "" {
		t.Errorf("the attack reached %s\n%v", got, r)
	}
	if !started {
		t.Errorf("the attack never ran, so nothing is proved: %v", r)
	}
}

// launch gives the words before the attack's arguments, without and with psb, and the policy.
func (c *campaign) launch(t *testing.T, a attack, s scene, v variant) (bare, boxed []string, policy string) {
	t.Helper()
	// Root's ~ is not the scene's home, so rules name it in full.
	policy = bareVersion + strings.NewReplacer("{home}", s.home, "{project}", s.project).Replace(a.policy)
	options := []string{"--policy", ".py-sandboxes"}
	if a.audit {
		options = []string{"--audit"}
	}
	if s.who.uid != 0 {
		for _, gap := range a.gaps {
			options = append(options, "--allow-gap", gap)
		}
	}
	if v.lite {
		options = append(options, "--provider", "landlock", "--allow-gap", "namespaces")
	}
	if v.lang == "c" {
		_, err := exec.LookPath("cc")
		ledger.Need(t, "cc", err)
		all, err := c.compileAll()
		must(t, err)
		b, err := os.ReadFile(all)
		must(t, err)
		target := filepath.Join(s.project, "attack")
		must(t, writeProgram(target, b))
		if !strings.Contains(policy, "[files]") {
			policy += "[files]\n"
		}
		policy = strings.Replace(policy, "[files]\n", "[files]\n\"attack\" = \"exec\"\n", 1)
		bare = []string{target, a.name}
		if !controlOnly() {
			boxed = slices.Concat([]string{psb(t), "exec"}, options, []string{"--", "./attack", a.name})
		}
		return bare, boxed, policy
	}
	if v.noShim {
		policy += "[python]\nshim = false\n"
	} else {
		policy += kernelTables // what stops the attack is the kernel
	}
	python := c.interpreter(t, s)
	code, err := os.ReadFile(a.file("py"))
	must(t, err)
	s.put(t, "home/code/project/attack.py", string(code))
	bare = []string{python, "attack.py"}
	if !controlOnly() {
		boxed = slices.Concat([]string{psb(t)}, options, []string{"--python", python, "attack.py"})
	}
	return bare, boxed, policy
}

// interpreter looks for one that the person can start, once.
func (c *campaign) interpreter(t *testing.T, s scene) string {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.python[s.who.name] == "" {
		list, err := s.choose(t, "any", nil)
		ledger.Need(t, "python3", err)
		c.python[s.who.name] = list[0].path
	}
	return c.python[s.who.name]
}

func (a attack) arrange(t *testing.T, s scene, policy string) attempt {
	t.Helper()
	s.put(t, "home/code/project/.py-sandboxes", policy)
	s.give(t)
	at := a.set(t, s)
	at.env = append([]string{"XDG_STATE_HOME=" + state(t, s.who)}, at.env...)
	return at
}

// state is one folder per person for what psb keeps between runs, so that the filter is compiled once and not a thousand times.
func state(t *testing.T, who person) string {
	t.Helper()
	dir := filepath.Join(workshop, "state-"+who.name)
	must(t, os.MkdirAll(dir, 0o755))
	if os.Getuid() == 0 {
		must(t, os.Chown(dir, int(who.uid), int(who.gid)))
	}
	return dir
}

// outcome is what became of one attack in all its runs.
type outcome struct {
	held, open, failed int
	reached            []string // what it got where nothing is claimed
}

func (c *campaign) note(a attack, run, got string, started, bound bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	o := c.tally[a.name]
	if o == nil {
		o = &outcome{}
		c.tally[a.name] = o
	}
	switch {
	case bound:
		o.open++
		if got != "" {
			o.reached = append(o.reached, run)
		}
	case got == "" && started:
		o.held++
	default:
		o.failed++
	}
}

// report is the table at the end: each attack, then each claim.
func (c *campaign) report(t *testing.T, rows []attack) {
	type sum struct{ attacks, held, open, failed int }
	claims := map[string]*sum{}
	var b strings.Builder
	for _, a := range rows {
		o := c.tally[a.name]
		if o == nil {
			continue // -run left it out
		}
		word := fmt.Sprintf("held in %d runs", o.held)
		if o.failed > 0 {
			word = fmt.Sprintf("FAILED in %d runs, held in %d", o.failed, o.held)
		}
		if o.open > 0 {
			word += fmt.Sprintf(", not claimed here in %d", o.open)
			if len(o.reached) > 0 {
				word += " (open in " + strings.Join(o.reached, ", ") + ")"
			}
		}
		fmt.Fprintf(&b, "%-40s %-28s %-7s %s\n", a.name, a.claim, strings.Join(a.languages(), " "), word)
		if claims[a.claim] == nil {
			claims[a.claim] = &sum{}
		}
		s := claims[a.claim]
		s.attacks++
		s.held, s.open, s.failed = s.held+o.held, s.open+o.open, s.failed+o.failed
	}
	b.WriteString("\n")
	for _, name := range slices.Sorted(maps.Keys(claims)) {
		s := claims[name]
		if name == "" {
			name = "no claim"
		}
		fmt.Fprintf(&b, "%-28s %3d attacks: held in %d runs, not claimed here in %d, FAILED in %d\n", name, s.attacks, s.held, s.open, s.failed)
	}
	fmt.Fprintf(&b, "%d attack programs, %d of them run\n", len(rows), len(c.tally))
	t.Logf("what became of the attacks\n%s", b.String())
}
