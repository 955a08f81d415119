package integration

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// consolePatience is how long a console waits for a text or an end. It is reached only when the test fails.
const consolePatience = time.Minute

// console is a terminal with a program in front of it, as a person sees it: what is typed, what appears.
type console struct {
	t      *testing.T
	cmd    *exec.Cmd
	master *os.File
	ended  chan struct{} // closed after the program was waited for
	seen   chan struct{} // closed after everything that was shown was read

	mu     sync.Mutex
	screen bytes.Buffer // everything that appeared
	looked int          // where the next wait starts to read
}

// console opens a terminal of 24 lines and 80 columns and starts the command in it, as leader of a new session.
func (s scene) console(t *testing.T, c call) *console {
	t.Helper()
	master, slave, err := openTerminal(s.who)
	must(t, err)
	cmd := exec.Command(c.argv[0], c.argv[1:]...)
	cmd.Dir = c.dir
	if cmd.Dir == "" {
		cmd.Dir = s.project
	}
	cmd.Env = append(append(s.env(), "TERM=xterm", "SHELL=/bin/bash"), c.env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	if os.Getuid() == 0 && s.who.uid != 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: s.who.uid, Gid: s.who.gid}
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("%q: %v", c.argv, err)
	}
	slave.Close()
	k := &console{t: t, cmd: cmd, master: master, ended: make(chan struct{}), seen: make(chan struct{})}
	go k.read()
	go func() { cmd.Wait(); close(k.ended) }()
	t.Cleanup(func() {
		select {
		case <-k.ended:
		default:
			cmd.Process.Kill()
			<-k.ended
		}
		master.Close()
		if t.Failed() {
			t.Logf("%q showed:\n%s", c.argv, k.shown())
		}
	})
	return k
}

func openTerminal(owner person) (master, slave *os.File, err error) {
	m, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("open /dev/ptmx: %w", err)
	}
	master = os.NewFile(uintptr(m), "/dev/ptmx")
	n, err := unix.IoctlGetInt(m, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(m, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(m, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80})
	}
	name := fmt.Sprintf("/dev/pts/%d", n)
	if err == nil && os.Getuid() == 0 {
		err = os.Chown(name, int(owner.uid), -1) // as a login does
	}
	if err == nil {
		slave, err = os.OpenFile(name, os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		master.Close()
		return nil, nil, fmt.Errorf("terminal: %w", err)
	}
	return master, slave, nil
}

func (k *console) read() {
	defer close(k.seen)
	b := make([]byte, 1<<16)
	for {
		n, err := k.master.Read(b)
		k.mu.Lock()
		k.screen.Write(b[:n])
		k.mu.Unlock()
		if errors.Is(err, syscall.EIO) { // nobody has the terminal open: the program may have just closed it to open it again
			select {
			case <-k.ended:
				return
			case <-time.After(5 * time.Millisecond):
				continue
			}
		}
		if err != nil {
			return
		}
	}
}

// shown is everything that appeared so far.
func (k *console) shown() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.screen.String()
}

// unread is what appeared since the last text that was waited for.
func (k *console) unread() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.screen.String()[k.looked:]
}

// expect waits for a text to appear after the last one waited for.
func (k *console) expect(text string) {
	k.t.Helper()
	deadline := time.Now().Add(consolePatience)
	for {
		k.mu.Lock()
		if at := strings.Index(k.screen.String()[k.looked:], text); at >= 0 {
			k.looked += at + len(text)
			k.mu.Unlock()
			return
		}
		k.mu.Unlock()
		if time.Now().After(deadline) {
			k.t.Fatalf("%q did not appear; since the last one that did: %q", text, k.unread())
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// send types.
func (k *console) send(keys string) {
	k.t.Helper()
	if _, err := k.master.WriteString(keys); err != nil {
		k.t.Fatalf("type %q: %v", keys, err)
	}
}

// insist types again, as a person does, until the text appears: CPython's own line editing forgets a Ctrl-C that comes just before it waits
// for a key, with psb or without.
func (k *console) insist(keys, text string) {
	k.t.Helper()
	until(k.t, text, func() bool {
		k.send(keys)
		for range 100 {
			if strings.Contains(k.unread(), text) {
				return true
			}
			time.Sleep(5 * time.Millisecond)
		}
		return false
	})
	k.expect(text)
}

// signal is sent to the command alone, as kill(1) does.
func (k *console) signal(sig syscall.Signal) {
	k.t.Helper()
	must(k.t, k.cmd.Process.Signal(sig))
}

// end waits for the command to end by itself.
func (k *console) end() result {
	k.t.Helper()
	select {
	case <-k.ended:
	case <-time.After(consolePatience):
		k.t.Fatalf("did not end; since the last text waited for: %q", k.unread())
	}
	select {
	case <-k.seen:
	case <-time.After(time.Second): // somebody still has the terminal
	}
	return ended(k.cmd.ProcessState, k.shown(), "")
}

// ends waits for the end and checks it: a status as a number, or "signal " and its name.
func (k *console) ends(want string) {
	k.t.Helper()
	if r := k.end(); r.status() != want {
		k.t.Errorf("ended with status %s, want %s", r.status(), want)
	}
}

// keys that mean something to a terminal.
const (
	ctrlC   = "\x03"
	ctrlD   = "\x04"
	ctrlZ   = "\x1a"
	ctrlB   = "\x1c" // Ctrl-\
	tabKey  = "\t"
	upArrow = "\x1b[A"
)

// prompt is what the bash of a console shows when it waits; no echo of what is typed can look like it.
const prompt = "<prompt>"

// bash starts an interactive bash with job control.
func (s scene) bash(t *testing.T) *console {
	t.Helper()
	psb(t) // it is on the PATH of every scene once it is built
	k := s.console(t, call{argv: []string{"/bin/bash", "--norc", "--noprofile", "--noediting", "-i"}, env: []string{"PS1=" + prompt, "HISTFILE="}})
	k.expect(prompt)
	return k
}

// line types a line and waits for the text.
func (k *console) line(text, want string) {
	k.t.Helper()
	k.send(text + "\n")
	if want != "" {
		k.expect(want)
	}
}

func ioctlForeground(f *os.File) (int, error) {
	n, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP)
	if err != nil {
		return 0, fmt.Errorf("ioctl TIOCGPGRP: %w", err)
	}
	return n, nil
}
