package integration

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
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

	"golang.org/x/sys/unix"
)

const (
	killMoments    = 200 // how often each victim is killed with PSB_ROWS=all
	fewKillMoments = 6   // without
	killsAtOnce    = 3   // so that the moments meet a busy machine, too

	launchMoments = 80 * time.Millisecond // half of the moments: the launch
)

// victims are who is killed. psb is killed enforcing, the tracer is psb learning; of the stages every other run is a learning one.
var victims = []string{"psb", "tracer", "keeper", "reaper"}

// killedProgram makes a tree that tries to outlive everything: a child of its own session. It ends at once where it is told so.
const killedProgram = `import subprocess, sys, time
open("out.txt", "w").close()
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", sys.argv[2]], start_new_session=True)
print("started", flush=True)
time.sleep(float(sys.argv[1]))
`

// TestKilled ends one of psb's processes with SIGKILL at random moments of the launch and of the run: whatever moment it was, no process,
// mount, cgroup or temporary file stays, and the policy holds every byte it held, or every byte of what a whole run writes.
func TestKilled(t *testing.T) {
	if controlOnly() {
		t.Skip("needs psb")
	}
	n := killMoments
	if once() {
		n = fewKillMoments
	}
	seed := uint64(time.Now().UnixNano())
	if given, err := strconv.ParseUint(os.Getenv("PSB_SEED"), 10, 64); err == nil {
		seed = given
	}
	t.Logf("PSB_SEED=%d gives the same moments", seed)
	for _, who := range people() {
		t.Run(who.name, func(t *testing.T) {
			known := map[int]bool{}
			for _, p := range descendants(t) {
				known[p.pid] = true
			}
			k := &killing{known: known, mounts: mountLines(t), running: map[int]bool{}}
			scenes := make([]*killScene, min(killsAtOnce, n))
			for i := range scenes {
				scenes[i] = k.scene(t, who)
			}
			for i, victim := range victims {
				t.Run(victim, func(t *testing.T) {
					moments := rand.New(rand.NewPCG(seed, uint64(i)))
					work := make(chan killMoment, n)
					for j := range n {
						m := killMoment{victim: victim, after: time.Duration(moments.Int64N(int64(launchMoments)))}
						if j/2%2 == 1 { // the other half: to the end of a whole run, as long as one takes here
							m.after = time.Duration(moments.Int64N(int64(k.whole)))
						}
						stage := victim == "keeper" || victim == "reaper"
						m.learn = victim == "tracer" || stage && j%2 == 1
						m.long = stage || j%2 == 0
						work <- m
					}
					close(work)
					k.tally = map[string]int{}
					var wait sync.WaitGroup
					for _, s := range scenes {
						wait.Go(func() {
							for m := range work {
								k.kill(t, s, m)
							}
						})
					}
					wait.Wait()
					k.settled(t)
					t.Logf("%d moments: %v", n, k.tally)
					if !once() && (k.tally["before the program"] == 0 || k.tally["in the run"] == 0) {
						t.Errorf("the moments lie on one side of the program's start only: %v", k.tally)
					}
				})
			}
			for _, s := range scenes { // after all that, whole runs work and leave what they always leave
				s.whole(t, true)
				s.whole(t, false)
				if names := s.lasting(t); !slices.Equal(names, s.names) {
					t.Errorf("after a whole run there are\n%s\ninstead of\n%s", strings.Join(names, "\n"), strings.Join(s.names, "\n"))
				}
			}
		})
	}
}

// killMoment is one run and its end.
type killMoment struct {
	victim      string
	after       time.Duration // since the victim is there
	learn, long bool
}

func (m killMoment) String() string {
	return fmt.Sprintf("%s killed after %v (learn %v, long %v)", m.victim, m.after, m.learn, m.long)
}

// killing is what the runs of one person share.
type killing struct {
	known  map[int]bool
	mounts []string
	whole  time.Duration // how long a whole learning run takes, with others beside it

	mu      sync.Mutex // guards the rest, and that no psb is started while orphans are reaped
	running map[int]bool
	tally   map[string]int
}

// killScene is where one run at a time takes place.
type killScene struct {
	scene
	python, first, full string // the policy before a learning run, and as a whole learning run leaves it
	names               []string
}

// scene prepares a project whose policy lacks one line that a learning run adds, and sees that it does.
func (k *killing) scene(t *testing.T, who person) *killScene {
	t.Helper()
	s := &killScene{scene: newScene(t, who)}
	s.put(t, "home/code/project/long.py", killedProgram)
	s.put(t, "home/code/project/out.txt", "")
	s.put(t, "home/tmp/kept", "")
	s.put(t, "home/.cache/kept", "") // learning makes the folder where there is none, and leaves it
	s.give(t)
	list, err := s.choose(t, "any", nil)
	ledger.Need(t, "python3", err)
	s.python = list[0].path
	s.whole(t, true)
	s.full, _ = s.policy(t)
	lines := strings.SplitAfter(s.full, "\n")
	lines = slices.DeleteFunc(lines, func(l string) bool { return strings.HasPrefix(l, `"out.txt" = "write"`) })
	if s.first = strings.Join(lines, ""); s.first == s.full {
		t.Fatalf("control: the learning run wrote no line of its own for out.txt:\n%s", s.full)
	}
	s.restore(t)
	begin := time.Now()
	s.whole(t, true)
	k.whole = max(k.whole, killsAtOnce*time.Since(begin))
	if again, _ := s.policy(t); again != s.full {
		t.Fatalf("control: a learning run makes of\n%s\nthis\n%s\ninstead of\n%s", s.first, again, s.full)
	}
	s.whole(t, false)
	s.names = s.lasting(t)
	s.restore(t)
	return s
}

func (s *killScene) restore(t *testing.T) {
	t.Helper()
	s.put(t, "home/code/project/.py-sandboxes", s.first)
	must(t, os.Lchown(filepath.Join(s.project, ".py-sandboxes"), int(s.who.uid), int(s.who.gid)))
}

// whole is a run that nobody kills.
func (s *killScene) whole(t *testing.T, learn bool) {
	t.Helper()
	r := s.run(t, call{argv: append(s.argv(t, learn), "long.py", "0", s.word), env: []string{"TMPDIR=" + s.home + "/tmp"}})
	if r.code != 0 || r.out != "started\n" {
		t.Fatalf("a whole run: %v", r)
	}
}

func (s *killScene) argv(t *testing.T, learn bool) []string {
	argv := []string{psb(t), "--python", s.python}
	if learn {
		argv = append(argv, "--learn")
	}
	if _, there := s.policy(t); there {
		argv = append(argv, "--policy", ".py-sandboxes")
	}
	return argv
}

// kill starts psb, kills one of its processes, and then waits for everything of it to go.
func (k *killing) kill(t *testing.T, s *killScene, m killMoment) {
	argv := append(s.argv(t, m.learn), "long.py", map[bool]string{true: "600", false: "0"}[m.long], s.word)
	if !m.learn {
		s.put(t, "home/code/project/.py-sandboxes", s.full) // enforced, the program writes out.txt, too
	}
	ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
	defer cancel()
	cmd := s.command(ctx, call{argv: argv, env: []string{"TMPDIR=" + s.home + "/tmp"}})
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := k.start(cmd); err != nil {
		t.Errorf("%v: %v", m, err)
		return
	}
	pid := cmd.Process.Pid
	space, killed := k.strike(m, pid)
	defer unix.Close(space)
	err := cmd.Wait()
	k.mu.Lock()
	delete(k.running, pid)
	k.mu.Unlock()
	r := ended(cmd.ProcessState, out.String(), errs.String())
	k.count(t, m, r, killed)
	if ctx.Err() != nil {
		t.Errorf("%v: psb %d is not done after 90 seconds: %v", m, pid, r)
	} else if err != nil && !strings.Contains(err.Error(), "exit status") && !strings.Contains(err.Error(), "signal: ") {
		t.Errorf("%v: psb %d: %v: %v", m, pid, err, r)
	}
	k.gone(t, s, m, pid, space)
	policy, _ := s.policy(t)
	switch {
	case policy == s.full && m.learn:
		k.add("policy written")
	case policy != s.first && m.learn, policy != s.full && !m.learn:
		t.Errorf("%v: the policy was\n%s\nand is\n%s\n%v", m, s.first, policy, r)
	}
	s.restore(t)
	for _, name := range s.lasting(t) {
		if _, there := slices.BinarySearch(s.names, name); there {
			continue
		}
		if strings.HasSuffix(name, ".psb-new") { // killed between link(2) and rename(2): the next one to write takes it away
			k.add("left for the next writer")
			continue
		}
		t.Errorf("%v: left behind: %s\n%v", m, name, r)
		os.RemoveAll(name)
	}
}

func (k *killing) start(cmd *exec.Cmd) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	err := cmd.Start()
	if err == nil {
		k.running[cmd.Process.Pid] = true
	}
	return err
}

// strike waits for the victim and then for the moment. It gives the box's pid namespace, where that is to be seen, else -1.
func (k *killing) strike(m killMoment, psb int) (space int, killed bool) {
	victim := psb
	for m.victim == "keeper" || m.victim == "reaper" {
		keeper, reaper := stages(psb)
		if victim = map[string]int{"keeper": keeper, "reaper": reaper}[m.victim]; victim != 0 || dead(psb) {
			break
		}
		time.Sleep(500 * time.Microsecond)
	}
	if victim == 0 {
		return -1, false
	}
	fd, err := unix.PidfdOpen(victim, 0) // its number may be another's by then
	if err != nil {
		return -1, false
	}
	defer unix.Close(fd)
	time.Sleep(m.after) // the moment: any is as good as another
	space = -1
	if _, reaper := stages(psb); reaper != 0 {
		if space, err = unix.Open(fmt.Sprintf("/proc/%d/ns/pid", reaper), unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
			space = -1
		}
	}
	return space, unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) == nil
}

// count judges psb's own end: killed itself it dies of it, with a stage killed it says so (125) or shares the program's end.
func (k *killing) count(t *testing.T, m killMoment, r result, killed bool) {
	said, _ := psbLines(r.err)
	began := r.out != ""
	switch stage := m.victim == "keeper" || m.victim == "reaper"; {
	case r.code == 0 && !m.long:
		k.add("too late")
		return
	case stage && !killed:
		t.Errorf("%v: psb ended before there was one: %v", m, r)
	case stage && r.code == 125 && !began && len(said) == 1:
	case r.signal == syscall.SIGKILL:
	default:
		t.Errorf("%v: how psb ended: %v", m, r)
	}
	k.add(map[bool]string{true: "in the run", false: "before the program"}[began])
}

func (k *killing) add(what string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.tally[what]++
}

// gone waits until no process and no group of the run is left.
func (k *killing) gone(t *testing.T, s *killScene, m killMoment, pid, space int) {
	var left []string
	name := "none"
	if space >= 0 { // held open, so that no other namespace gets its number
		name, _ = os.Readlink(fmt.Sprintf("/proc/self/fd/%d", space))
	}
	k.soon(t, fmt.Sprintf("%v: nothing left of psb %d", m, pid), &left, func(all []process) {
		left = nil
		for _, p := range all {
			in := ""
			if space >= 0 {
				in, _ = os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", p.pid))
			}
			if p.state != 'Z' && p.state != 'X' && (strings.Contains(p.cmdline, s.word) || in == name) {
				left = append(left, fmt.Sprintf("process %d: %s", p.pid, p.cmdline))
			}
		}
		if left == nil {
			left = cgroupsOf(pid)
		}
	})
}

// settled waits until nothing of all runs is left: whatever a psb leaves is below this process, its subreaper.
func (k *killing) settled(t *testing.T) {
	var left []string
	k.soon(t, "no process and no mount left of all runs", &left, func([]process) {
		left = nil
		for _, p := range descendants(t) {
			if !k.known[p.pid] {
				left = append(left, fmt.Sprintf("process %d: %s", p.pid, p.cmdline))
			}
		}
		for _, line := range mountLines(t) {
			if !slices.Contains(k.mounts, line) {
				left = append(left, "mount: "+line)
			}
		}
	})
}

// soon asks again until nothing is left; the dead that became our children are reaped meanwhile: a zombie holds its cgroup.
func (k *killing) soon(t *testing.T, what string, left *[]string, look func([]process)) {
	deadline := time.Now().Add(time.Minute)
	for {
		all := processes(t)
		k.reapOrphans(all)
		if look(all); len(*left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("after a minute still not: %s, but\n%s", what, strings.Join(*left, "\n"))
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func (k *killing) reapOrphans(all []process) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, p := range all {
		if p.parent == os.Getpid() && p.state == 'Z' && !k.known[p.pid] && !k.running[p.pid] {
			syscall.Wait4(p.pid, nil, syscall.WNOHANG, nil)
		}
	}
}
