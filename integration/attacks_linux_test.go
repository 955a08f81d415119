package integration

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// attack is one claim: what a program under a policy cannot do. The program is testdata/attack/NAME.py and NAME.c; it prints "started"
// first, so that a run that was held back for another reason proves nothing, and "ready" before it waits for the end of its input,
// where something has to be looked at while it lives.
type attack struct {
	name   string
	policy string   // rules the attack is given; it must not get further than these
	gaps   []string // what an ordinary user without cgroups has to accept; the limit is then held by other means
	set    func(t *testing.T, s scene) attempt
}

// attempt is an attack made ready in one scene.
type attempt struct {
	args    []string
	control []string // arguments of the control run where they must differ, to keep the host whole
	env     []string
	extra   []*os.File
	look    func()                    // at "ready"
	got     func(result) (got string) // what it reached, as seen from outside; "" when it was held
}

const (
	bombForks  = 200 // the fuse of the fork bomb
	bombMemory = 512 // of the memory bomb, MiB
)

var attacks = []attack{
	{"read", "", nil, func(t *testing.T, s scene) attempt {
		return attempt{args: []string{filepath.Join(s.sibling, s.token+".txt")}, got: func(r result) string {
			if strings.Contains(r.out, "# "+s.token) {
				return "the content of a file"
			}
			return ""
		}}
	}},
	{"write", "", nil, func(t *testing.T, s scene) attempt {
		old, fresh, tmp := filepath.Join(s.sibling, s.token+".txt"), filepath.Join(s.sibling, "new.txt"), "/var/tmp/psb-attack-"+s.word
		t.Cleanup(func() { os.Remove(tmp) })
		return attempt{args: []string{old, fresh, tmp}, got: func(result) string {
			if b, err := os.ReadFile(old); err != nil || string(b) != "# "+s.token+"\n" {
				return "a file of another folder: " + string(b)
			}
			for _, path := range []string{fresh, tmp} {
				if _, err := os.Lstat(path); err == nil {
					return "a new file: " + path
				}
			}
			return ""
		}}
	}},
	{"list", "", nil, func(t *testing.T, s scene) attempt {
		return attempt{args: []string{s.home}, got: func(r result) string {
			if strings.Contains(r.out, "token-"+s.token) {
				return "the names in the home"
			}
			return ""
		}}
	}},
	{"connect", "", nil, func(t *testing.T, s scene) attempt {
		path := filepath.Join(s.sibling, "socket")
		doors := []net.Listener{listen(t, "tcp", "127.0.0.1:0"), listen(t, "unix", "@"+s.word), listen(t, "unix", path)}
		must(t, os.Chmod(path, 0o777))
		port := doors[0].Addr().(*net.TCPAddr).Port
		return attempt{args: []string{strconv.Itoa(port), s.word, path}, got: func(result) string {
			var open []string
			for _, d := range doors {
				if n := visitors(t, d); n > 0 {
					open = append(open, fmt.Sprintf("%s %d times", d.Addr(), n))
				}
			}
			return strings.Join(open, ", ")
		}}
	}},
	{"processes", "", nil, func(t *testing.T, s scene) attempt {
		victim, alive := s.victim(t)
		return attempt{args: []string{strconv.Itoa(victim)}, got: func(r result) string {
			switch {
			case strings.Contains(r.out, s.token):
				return "the arguments of a process of the host"
			case !alive():
				return "the end of a process of the host"
			}
			return ""
		}}
	}},
	{"ptrace", "[files]\n\"out/\" = \"create\"\n", nil, func(t *testing.T, s scene) attempt {
		s.put(t, "home/code/project/out/kept", "")
		s.give(t)
		return attempt{args: []string{"out/traced"}, got: func(result) string {
			if _, err := os.Lstat(filepath.Join(s.project, "out/traced")); err == nil {
				return "the registers of a process"
			}
			return ""
		}}
	}},
	{"mount", "[files]\n\"out/\" = \"write\"\n", nil, func(t *testing.T, s scene) attempt {
		s.put(t, "home/code/project/out/kept", "")
		s.give(t)
		var seen string
		return attempt{args: []string{"all", s.word, "out"}, control: []string{"apart", s.word, "out"},
			look: func() { seen = mounted(t, s.word) },
			got:  func(result) string { return seen }}
	}},
	{"descriptor", "", nil, func(t *testing.T, s scene) attempt {
		f, err := os.Open(filepath.Join(s.sibling, s.token+".txt"))
		must(t, err)
		t.Cleanup(func() { f.Close() })
		return attempt{extra: []*os.File{f, f, f, f, f, f, f}, got: func(r result) string { // 3 to 9
			if strings.Contains(r.out, "# "+s.token) {
				return "a file through an inherited descriptor"
			}
			return ""
		}}
	}},
	{"environment", "", nil, func(t *testing.T, s scene) attempt {
		return attempt{env: []string{"ROW_API_KEY=" + s.token}, got: func(r result) string {
			if strings.Contains(r.out, s.token) {
				return "a variable that no line names"
			}
			return ""
		}}
	}},
	{"forks", "[limits]\npids = 64\n", []string{"limits.pids"}, func(t *testing.T, s scene) attempt {
		var n int
		return attempt{args: []string{strconv.Itoa(bombForks), s.word}, look: func() { n = len(withWord(t, s.word)) }, got: func(result) string {
			if n >= bombForks {
				return fmt.Sprint(n, " processes")
			}
			return ""
		}}
	}},
	{"memory", "[limits]\nmemory = \"128M\"\nmemory_swap = \"0\"\n", []string{"limits.memory", "limits.memory_swap"}, func(t *testing.T, s scene) attempt {
		var mib int
		return attempt{args: []string{strconv.Itoa(bombMemory), s.word}, look: func() {
			// Where nothing but psb's own look holds the limit, the end comes a moment later.
			for range 100 {
				if mib = resident(t, s.word); mib < bombMemory {
					return
				}
				time.Sleep(20 * time.Millisecond)
			}
		}, got: func(result) string {
			if mib >= bombMemory {
				return fmt.Sprint(mib, " MiB")
			}
			return ""
		}}
	}},
	{"daemon", "", nil, func(t *testing.T, s scene) attempt {
		return attempt{args: []string{s.word}, got: func(result) string {
			left := withWord(t, s.word)
			for _, p := range left {
				syscall.Kill(p.pid, syscall.SIGKILL)
			}
			if len(left) > 0 {
				return fmt.Sprint("life after the run: ", left)
			}
			return ""
		}}
	}},
	{"policy", "[files]\n\"./\" = \"write\"\n", nil, func(t *testing.T, s scene) attempt {
		path := filepath.Join(s.project, ".py-sandboxes")
		before, err := os.ReadFile(path)
		must(t, err)
		return attempt{args: []string{path}, got: func(result) string {
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
				return fmt.Sprintf("the policy, now %q (%v)", after, err)
			}
			return ""
		}}
	}},
}

// TestAttacks tries each attack from Python with and without the shim, and from a compiled C program, as each person. First
// without psb, where it must succeed.
func TestAttacks(t *testing.T) {
	for _, a := range attacks {
		t.Run(a.name, func(t *testing.T) {
			for _, who := range people() {
				for _, from := range []string{"python", "python without shim", "c"} {
					t.Run(who.name+"/"+from, func(t *testing.T) { a.try(t, who, from) })
				}
			}
		})
	}
}

func (a attack) try(t *testing.T, who person, from string) {
	s := newScene(t, who)
	bare, boxed, policy := a.launch(t, s, from)
	at := a.arrange(t, s, policy)
	args := at.args
	if at.control != nil {
		args = at.control
	}
	control := s.watch(t, call{argv: append(bare, args...), env: at.env, extra: at.extra}, at.look)
	if at.got(control) == "" {
		t.Fatalf("control: without psb the attack does not succeed, so it proves nothing: %v", control)
	}
	if controlOnly() {
		return
	}

	s = newScene(t, who)
	_, boxed, policy = a.launch(t, s, from)
	at = a.arrange(t, s, policy)
	r := s.watch(t, call{argv: append(boxed, at.args...), env: at.env, extra: at.extra}, at.look)
	if got := at.got(r); got != "" {
		t.Errorf("the attack reached %s\n%v", got, r)
	}
	if !strings.HasPrefix(r.out, "started\n") {
		t.Errorf("the attack never ran, so nothing is proved: %v", r)
	}
}

// launch gives the words before the attack's arguments, without and with psb, and the policy.
func (a attack) launch(t *testing.T, s scene, from string) (bare, boxed []string, policy string) {
	t.Helper()
	policy = "version = 1\n" + a.policy
	var accept []string
	if s.who.uid != 0 {
		for _, gap := range a.gaps {
			accept = append(accept, "--allow-gap", gap)
		}
	}
	if from == "c" {
		target := filepath.Join(s.project, "attack")
		b, err := os.ReadFile(compiled(t, a.name))
		must(t, err)
		must(t, os.WriteFile(target, b, 0o755))
		if !strings.Contains(policy, "[files]") {
			policy += "[files]\n"
		}
		policy = strings.Replace(policy, "[files]\n", "[files]\n\"attack\" = \"exec\"\n", 1)
		bare = []string{target}
		if !controlOnly() {
			boxed = slices.Concat([]string{psb(t), "exec", "--policy", ".py-sandboxes"}, accept, []string{"--", "./attack"})
		}
		return bare, boxed, policy
	}
	if from == "python without shim" {
		policy += "[python]\nshim = false\n"
	}
	list, err := s.choose(t, "any", nil)
	ledger.Need(t, "python3", err)
	code, err := os.ReadFile(filepath.Join("testdata/attack", a.name+".py"))
	must(t, err)
	s.put(t, "home/code/project/attack.py", string(code))
	bare = []string{list[0].path, "attack.py"}
	if !controlOnly() {
		boxed = slices.Concat([]string{psb(t), "--policy", ".py-sandboxes", "--python", list[0].path}, accept, []string{"attack.py"})
	}
	return bare, boxed, policy
}

func (a attack) arrange(t *testing.T, s scene, policy string) attempt {
	t.Helper()
	s.put(t, "home/code/project/.py-sandboxes", policy)
	s.give(t)
	return a.set(t, s)
}

var compiling sync.Mutex

// compiled is the attack as a static binary.
func compiled(t *testing.T, name string) string {
	t.Helper()
	_, err := exec.LookPath("cc")
	ledger.Need(t, "cc", err)
	compiling.Lock()
	defer compiling.Unlock()
	target := filepath.Join(workshop, "bin", "attack-"+name)
	if _, err := os.Stat(target); err == nil {
		return target
	}
	must(t, os.MkdirAll(filepath.Dir(target), 0o755))
	if out, err := exec.Command("cc", "-static", "-O1", "-w", "-o", target, filepath.Join("testdata/attack", name+".c")).CombinedOutput(); err != nil {
		t.Fatalf("cc %s.c: %v\n%s", name, err, out)
	}
	return target
}

// watch runs a call with an input that stays open until the program says "ready" and look has looked, or until it ends.
func (s scene) watch(t *testing.T, c call, look func()) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := s.command(ctx, c)
	in, err := cmd.StdinPipe()
	must(t, err)
	r, w, err := os.Pipe()
	must(t, err)
	defer r.Close()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = w, &errs
	err = cmd.Start()
	w.Close()
	must(t, err)
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		out.WriteString(line)
		if line == "ready\n" && look != nil {
			look()
		}
		if err != nil || line == "ready\n" {
			break
		}
	}
	in.Close()
	io.Copy(&out, lines)
	cmd.Wait()
	if ctx.Err() != nil {
		t.Fatalf("%q: not done after a minute\n%s%s", c.argv, out.String(), errs.String())
	}
	return ended(cmd.ProcessState, out.String(), errs.String())
}

func listen(t *testing.T, network, address string) net.Listener {
	t.Helper()
	l, err := net.Listen(network, address)
	must(t, err)
	t.Cleanup(func() { l.Close() })
	return l
}

// visitors counts who connected before now: it comes to the door itself, last in the queue, and counts those ahead of it.
func visitors(t *testing.T, l net.Listener) (n int) {
	t.Helper()
	last, err := net.Dial(l.Addr().Network(), l.Addr().String())
	must(t, err)
	defer last.Close()
	_, err = last.Write([]byte("last"))
	must(t, err)
	for {
		c, err := l.Accept()
		must(t, err)
		c.SetReadDeadline(time.Now().Add(5 * time.Second))
		b := make([]byte, 4)
		k, _ := c.Read(b)
		c.Close()
		if string(b[:k]) == "last" {
			return n
		}
		n++
	}
}

// victim starts a process of the same person that has the token in its arguments and lives until the test ends.
func (s scene) victim(t *testing.T) (pid int, alive func() bool) {
	t.Helper()
	cmd := s.command(t.Context(), call{argv: []string{"/bin/sh", "-c", "read line", s.token}})
	in, err := cmd.StdinPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() { in.Close(); cmd.Wait() })
	until(t, "the victim runs", func() bool { return len(withWord(t, s.token)) > 0 })
	return cmd.Process.Pid, func() bool { return len(withWord(t, s.token)) > 0 }
}

// mounted looks for a mount with this source in every mount namespace.
func mounted(t *testing.T, source string) string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/mountinfo")
	must(t, err)
	for _, file := range files {
		b, _ := os.ReadFile(file)
		for line := range strings.Lines(string(b)) {
			if strings.Contains(line, " "+source+" ") {
				return "a mount: " + line
			}
		}
	}
	return ""
}

// resident is the memory, in MiB, that the processes with the word hold.
func resident(t *testing.T, word string) (mib int) {
	t.Helper()
	for _, p := range withWord(t, word) {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.pid))
		for line := range strings.Lines(string(b)) {
			if f := strings.Fields(line); len(f) == 3 && f[0] == "VmRSS:" {
				kib, _ := strconv.Atoi(f[1])
				mib += kib / 1024
			}
		}
	}
	return mib
}
