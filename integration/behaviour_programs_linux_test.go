package integration

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// behaviour is a program of testdata/behaviour and what it must print: without psb, which is the control, and in its box.
type behaviour struct {
	name   string
	policy string // below version = 1; "learn": what a learning run of it writes
	args   []string
	needs  map[string]string // modules, by the name the ledger has for them
	want   string
	set    func(t *testing.T, s scene)
}

var behaviours = []behaviour{
	{name: "wakes", want: "WOKE 200\nSOCK_STREAM [b'x', b'yz', 'OSError']\nSOCK_SEQPACKET [b'x', b'yz', 'sent']\n"},
	{name: "portal", needs: map[string]string{"anyio": "anyio"}, want: "PORTAL 4\n"},
	{name: "reserves", policy: "[limits]\nmemory = \"512M\"\n", want: "RESERVED 8\n"},
	{name: "family", want: "0 True Name: True True\n1 True Name: True True\n2 True Name: True True\n"},
	{name: "generates", policy: "[files]\n\"/bin/sh\" = \"exec\"\n", want: "FFI 42\nRWX 42\nWX 0 42\nb'MEMFD\\n'\n"},
	{name: "zones", want: "2:00:00\n5:45:00 True\nUTC 09 +0000\nC.UTF-8 UTF-8 .\n['LANG']\n"},
	{name: "methods", want: methodsWant()},
	{name: "awkward", policy: "[files]\n\"odd/\" = \"read\"\n", set: odd, want: "b'loop' 4 ELOOP\nb'dead' 4 ENOENT\nb'caf\\xe9' 4 b'here'\nb'two\\nlines' 9 b'here'\n" +
		"b'nnnnnnnnnnnn' 255 b'here'\nb'nnnnnnnnnnnn' 256 ENAMETOOLONG\n[b'caf\\xe9', b'dead', b'loop']\n"},
	{name: "resolver", args: []string{"links/"}, policy: "[files]\n\"links/\" = \"read\"\n", set: resolvers, want: strings.Repeat("1\n", 4) + "True\n"},
	{name: "wakes", policy: "learn", want: "WOKE 200\nSOCK_STREAM [b'x', b'yz', 'OSError']\nSOCK_SEQPACKET [b'x', b'yz', 'sent']\n"},
	{name: "generates", policy: "learn", want: "FFI 42\nRWX 42\nWX 0 42\nb'MEMFD\\n'\n"},
	{name: "resolver", policy: "learn", args: []string{"links/"}, set: resolvers, want: strings.Repeat("1\n", 4) + "True\n"},
}

func methodsWant() string {
	var b strings.Builder
	for _, m := range []string{"fork", "spawn", "forkserver"} {
		b.WriteString(strings.ReplaceAll("M pool [0, 1, 4, 9] 81\nM queued piped 42 2 0\nM manager 1 [2] 3\nM killed -9\nM True False 0 False\n", "M", m))
	}
	return b.String()
}

// odd makes names that are awkward: links that lead round in a circle or nowhere, bytes that are no text, the longest name there is.
func odd(t *testing.T, s scene) {
	dir := filepath.Join(s.project, "odd")
	must(t, os.Mkdir(dir, 0o755))
	for _, name := range []string{"caf\xe9", "two\nlines", strings.Repeat("n", 255)} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte("here"), 0o644))
	}
	must(t, os.Symlink("loop2", filepath.Join(dir, "loop")))
	must(t, os.Symlink("loop", filepath.Join(dir, "loop2")))
	must(t, os.Symlink("nowhere", filepath.Join(dir, "dead")))
}

// resolvers are the ways a resolver's file stands on hosts: plain, and as links of one and two hops, absolute and relative. The last of the
// links leads where a box shows nothing of the host without a rule.
func resolvers(t *testing.T, s scene) {
	const text = "nameserver 192.0.2.53\n"
	s.put(t, "home/code/project/links/plain", text)
	s.put(t, "home/code/project/links/kept/stub-resolv.conf", text)
	dir := filepath.Join(s.project, "links")
	for name, to := range map[string]string{"relative": "kept/stub-resolv.conf", "absolute": filepath.Join(dir, "kept/stub-resolv.conf"), "hops": "absolute"} {
		must(t, os.Symlink(to, filepath.Join(dir, name)))
	}
}

// TestBehaviour: what simply works without psb simply works with it, to the last byte, under the rules a user would write or have learned.
func TestBehaviour(t *testing.T) {
	for _, b := range behaviours {
		name := b.name
		if b.policy == "learn" {
			name += ", learned"
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, who := range people() {
				t.Run(who.name, func(t *testing.T) { b.prove(t, who) })
			}
		})
	}
}

func (b behaviour) prove(t *testing.T, who person) {
	s := newScene(t, who)
	s.behave(t, b.name)
	if b.set != nil {
		b.set(t, s)
	}
	if b.policy != "learn" {
		s.put(t, "home/code/project/.py-sandboxes", kernelPolicy+b.policy)
	}
	s.give(t)
	i := s.system(t, b.needs)
	args := append([]string{b.name + ".py"}, b.args...)
	control := s.run(t, call{argv: append([]string{i.path}, args...)})
	if control.code != 0 || control.out != b.want {
		t.Fatalf("the control run: %v\nwant %s", control, b.want)
	}
	if controlOnly() {
		return
	}
	boxed := []string{psb(t), "--python", i.path}
	switch {
	case b.policy == "learn":
		if r := s.run(t, call{argv: slices.Concat(boxed, []string{"--learn"}, args)}); r.code != 0 || r.out != b.want {
			t.Fatalf("learning: %v", r)
		}
	default:
		boxed = append(boxed, "--policy", ".py-sandboxes")
		if who.uid != 0 && strings.Contains(b.policy, "memory") {
			boxed = append(boxed, "--allow-gap", "limits.memory")
		}
	}
	if r := s.run(t, call{argv: append(boxed, args...)}); r != control {
		policy, _ := s.policy(t)
		t.Errorf("with psb: %v\n--- without: %v\n--- policy\n%s", r, control, policy)
	}
}

// behave copies programs of testdata/behaviour into the project.
func (s scene) behave(t testing.TB, names ...string) {
	t.Helper()
	for _, name := range names {
		b, err := os.ReadFile(filepath.Join("testdata/behaviour", name+".py"))
		must(t, err)
		s.put(t, "home/code/project/"+name+".py", string(b))
	}
	s.give(t)
}

// system is the system's python with modules, by the names the ledger knows them by.
func (s scene) system(t testing.TB, needs map[string]string) interpreter {
	t.Helper()
	list, err := s.choose(t, "system", nil)
	ledger.Need(t, "python3", err)
	for _, name := range slices.Sorted(maps.Keys(needs)) {
		ledger.Need(t, name, s.reaches(t, list[0], []string{needs[name]}))
	}
	return list[0]
}

// TestBehaviourPythons: multiprocessing works with each start method under every Python there is.
func TestBehaviourPythons(t *testing.T) {
	if controlOnly() {
		t.Skip("needs psb")
	}
	for _, i := range tried() {
		t.Run(i.version(), func(t *testing.T) {
			t.Parallel()
			for _, who := range people() {
				t.Run(who.name, func(t *testing.T) {
					s := newScene(t, who)
					s.behave(t, "methods", "wakes")
					s.put(t, "home/code/project/empty.toml", emptyPolicy)
					s.give(t)
					if err := s.reaches(t, i, []string{"multiprocessing.shared_memory"}); err != nil {
						t.Skip(err)
					}
					for _, name := range []string{"methods.py", "wakes.py"} {
						want := s.run(t, call{argv: []string{i.path, name}})
						got := s.run(t, call{argv: []string{psb(t), "--python", i.path, "--policy", "empty.toml", name}})
						if want.code != 0 || got != want {
							t.Errorf("python: %v\npsb: %v", want, got)
						}
					}
				})
			}
		})
	}
}

// callRuns is how often TestBehaviourCalls starts psb with PSB_ROWS=all.
const callRuns = 1000

// TestBehaviourCalls: what every program of some size does at its start works every time, not nearly every time.
func TestBehaviourCalls(t *testing.T) {
	if controlOnly() {
		t.Skip("needs psb")
	}
	n := callRuns
	if once() {
		n = 24
	}
	const want = "SYSCALLS 8 True [1]\n"
	for _, who := range people() {
		t.Run(who.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, who)
			s.behave(t, "calls")
			s.put(t, "home/code/project/empty.toml", emptyPolicy)
			s.give(t)
			i := s.system(t, nil)
			if r := s.run(t, call{argv: []string{i.path, "calls.py"}}); r.out != want {
				t.Fatalf("the control run: %v", r)
			}
			for k := range n {
				if r := s.run(t, call{argv: []string{psb(t), "--python", i.path, "--policy", "empty.toml", "calls.py"}}); r.code != 0 || r.out != want || r.err != "" {
					t.Fatalf("run %d: %v", k, r)
				}
			}
		})
	}
}
