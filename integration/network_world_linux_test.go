package integration

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// worldStage, in the environment of a copy of this test binary, says how far the making of the world around it has come.
const worldStage = "PSB_INTEGRATION_WORLD"

// world is the outside that the tests of the network make themselves: a network namespace where documentation, private and metadata
// addresses are this machine's own, so that whatever a program says to anybody stays here, and a name server that says what a test wants.
//
//	192.0.2.0/24 198.51.100.0/24 203.0.113.0/24 2001:db8::1-9   nobody's: neither private nor public
//	10.9.8.0/24 127.0.0.0/8 fd00::1 169.254.169.254             private, loopback, metadata
type world struct {
	names *resolver
	dir   string
}

// outside runs a body in a world of its own: this binary once more, in fresh network and mount namespaces, runs the same test there.
//
//	the test   ── clone ──► stage "made": addresses, mounts ── exec ──► stage "inhabited": the body, without privileges of its own
//	  reads the verdict, and ends with what is left of it ◄──────────────┘
func outside(t *testing.T, body func(t *testing.T, w *world)) {
	t.Helper()
	switch os.Getenv(worldStage) {
	case "":
		t.Parallel() // worlds see nothing of each other
		enterWorld(t)
	case "made":
		t.Fatal(makeWorld())
	default:
		endWithParent(t)
		w := &world{dir: os.Getenv(worldStage)}
		w.resolves(t, "nameserver "+resolverAddress+"\n")
		at := []string{resolverAddress, "127.0.0.99", "192.0.2.53"}
		if hasIPv6() {
			at = append(at, "2001:db8::9")
		}
		w.names = serveNames(t, at...)
		t.Cleanup(func() { endAll(t, func(process) bool { return true }) })
		body(t, w)
	}
}

// resolves writes the world's resolv.conf.
func (w *world) resolves(t testing.TB, text string) {
	t.Helper()
	must(t, os.WriteFile(filepath.Join(w.dir, "resolv.conf"), []byte(text), 0o644))
}

// besideOthers lets a test run beside others, but for one in a world: there all share the same addresses.
func besideOthers(t *testing.T) {
	t.Helper()
	if os.Getenv(worldStage) == "" {
		t.Parallel()
	}
}

// enterWorld is the half that stays outside.
func enterWorld(t *testing.T) {
	t.Helper()
	if strings.Contains(t.Name(), "/") {
		t.Fatal("BUG: a world is entered by a whole test")
	}
	run := "^" + t.Name() + "$"
	run += deeper(testFlag("run"))
	args := []string{"-test.run=" + run, "-test.v=true", "-test.timeout=" + testFlag("timeout")}
	if testing.Short() {
		args = append(args, "-test.short")
	}
	dir, err := os.MkdirTemp(filepath.Dir(workshop), "w") // short: names of sockets have to fit
	must(t, err)
	if os.Getenv("PSB_KEEP") == "" {
		defer os.RemoveAll(dir)
	}
	must(t, os.Chmod(dir, 0o755))
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.Env = append(os.Environ(), worldStage+"=made", "PSB_WORKSHOP="+dir)
	if !controlOnly() {
		cmd.Env = append(cmd.Env, "PSB_BIN="+psb(t), ownFolders+"="+filepath.Join(workshop, "first"))
		for _, who := range people() {
			_, err := firstStart(who)
			must(t, err)
		}
	}
	lifeline, held, err := os.Pipe() // its hang-up tells the world that nobody waits for it any more
	must(t, err)
	defer held.Close()
	cmd.ExtraFiles = []*os.File{lifeline}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Cloneflags: unix.CLONE_NEWNET | unix.CLONE_NEWNS}
	if uid, gid := os.Getuid(), os.Getgid(); uid != 0 {
		cmd.SysProcAttr.Cloneflags |= unix.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
		cmd.SysProcAttr.AmbientCaps = []uintptr{unix.CAP_NET_ADMIN, unix.CAP_SYS_ADMIN}
	}
	var out bytes.Buffer
	said := io.Writer(&out)
	if testing.Verbose() {
		said = io.MultiWriter(&out, os.Stdout)
	}
	cmd.Stdout, cmd.Stderr = said, said
	err = cmd.Start()
	lifeline.Close()
	ledger.Need(t, "netns", err)
	network := func(pid int) string { name, _ := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", pid)); return name }
	here, its := network(os.Getpid()), network(cmd.Process.Pid)
	cmd.WaitDelay = 10 * time.Second // a process that kept the pipe of a world that died
	err = cmd.Wait()
	endAll(t, func(p process) bool { n := network(p.pid); return n != "" && n != here && n == its })
	remember(out.String())
	text := spoken(out.String())
	switch reason, _, skipped := strings.Cut(text, "--- SKIP: "+t.Name()+" "); {
	case err != nil && testing.Verbose():
		t.Errorf("in the outside world: %v", err)
	case err != nil:
		t.Errorf("in the outside world: %v\n%s", err, text)
	case skipped:
		t.Skip(strings.TrimSpace(reason))
	case !strings.Contains(out.String(), "--- PASS: "+t.Name()+" "):
		t.Errorf("the test did not run in the outside world:\n%s", text)
	}
}

// testFlag is the value of a flag of go test.
func testFlag(name string) string { return flag.Lookup("test." + name).Value.String() }

// deeper is what a -run pattern says of the tests within a test: what begins at its first slash outside brackets.
func deeper(pattern string) string {
	depth := 0
	for i, c := range pattern {
		switch c {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case '|':
			if depth == 0 {
				return "" // several patterns: all of the test
			}
		case '/':
			if depth == 0 {
				return pattern[i:]
			}
		}
	}
	return ""
}

// spoken leaves out the lines that only tell which test is on.
func spoken(out string) string {
	var kept strings.Builder
	for line := range strings.Lines(out) {
		if !strings.HasPrefix(line, "=== ") {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

// remember takes what the ledger in the world counted into this one.
func remember(out string) {
	_, line, ok := strings.Cut(out, "\nexercised: ")
	if !ok {
		return
	}
	line, _, _ = strings.Cut(line, "\n")
	had, missing, _ := strings.Cut(line, "; skipped for want of: ")
	for _, m := range regexp.MustCompile(`(\S+) (\d+)`).FindAllStringSubmatch(had, -1) {
		for n, _ := strconv.Atoi(m[2]); n > 0; n-- {
			ledger.count(&ledger.had, m[1])
		}
	}
	for _, name := range known {
		if m := regexp.MustCompile(`(?:^|, )` + name + ` (\d+) \((.*?)\)(?:, |$)`).FindStringSubmatch(missing); m != nil {
			ledger.Need(&lost{}, name, fmt.Errorf("%s", m[2]))
		}
	}
}

// lost takes a skip that was said already.
type lost struct{}

func (lost) Helper()               {}
func (lost) Fatalf(string, ...any) {}
func (lost) Skipf(string, ...any)  {}

// makeWorld gives the fresh namespaces their addresses and files, and becomes the same test without the right to change them. It returns
// only an error.
func makeWorld() error {
	runtime.LockOSThread()
	dir := os.Getenv("PSB_WORKSHOP")
	if err := os.RemoveAll(workshop); err != nil { // this stage's own
		return err
	}
	if err := unix.Mount("none", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("mount private: %w", err)
	}
	for name, text := range map[string]string{"resolv.conf": "", "nsswitch.conf": "hosts: files dns\n", "hosts": "127.0.0.1 localhost\n::1 localhost ip6-localhost\n"} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return err
		}
		if err := unix.Mount(file, "/etc/"+name, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("mount over /etc/%s: %w", name, err)
		}
	}
	if _, err := os.Stat("/run/nscd"); err == nil { // it would answer for the host
		if err := unix.Mount("none", "/run/nscd", "tmpfs", 0, ""); err != nil {
			return fmt.Errorf("mount over /run/nscd: %w", err)
		}
	}
	if err := giveAddresses(); err != nil {
		return err
	}
	if os.Getuid() != 0 { // the test itself serves names
		if err := os.WriteFile("/proc/sys/net/ipv4/ip_unprivileged_port_start", []byte("0"), 0); err != nil {
			return err
		}
		if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
			return fmt.Errorf("prctl PR_CAP_AMBIENT: %w", err)
		}
	}
	env := slices.DeleteFunc(os.Environ(), func(e string) bool { return strings.HasPrefix(e, worldStage+"=") })
	return unix.Exec("/proc/self/exe", os.Args, append(env, worldStage+"="+dir))
}

// endWithParent ends this process, and what it started, when the one that made the world is gone.
func endWithParent(t *testing.T) {
	lifeline := os.NewFile(3, "lifeline")
	unix.CloseOnExec(3)
	go func() {
		lifeline.Read(make([]byte, 1))
		endAll(t, func(process) bool { return true })
		os.Exit(1)
	}()
}

// endAll ends the processes below this one that are meant, each by its number, until there are none.
func endAll(t testing.TB, meant func(process) bool) {
	t.Helper()
	until(t, "everything that was started has ended", func() bool {
		left := 0
		for _, p := range descendants(t) {
			if meant(p) {
				left++
				unix.Kill(p.pid, unix.SIGKILL)
				unix.Wait4(p.pid, nil, unix.WNOHANG, nil)
			}
		}
		return left == 0
	})
}
