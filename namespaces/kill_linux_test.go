package namespaces

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestKillIsTheEnd(t *testing.T) {
	needBox(t)
	for _, s := range []*Spec{shellBox("setsid sleep 1000 & sleep 1000"), lite(shellBox("setsid sleep 1000 & sleep 1000"))} {
		out, _, err := run(t, s, func(b *Box) {
			pids := watchTree(t, b.Keeper())
			if err := unix.Kill(parentOf(t, b.Program()), unix.SIGSTOP); err != nil { // a reaper that cannot act does not matter
				t.Fatal(err)
			}
			go func() { b.Kill(); b.Kill() }()
			<-b.Done()
			pids.gone(t)
		})
		if err == nil {
			t.Errorf("no error, output %q", out)
		}
	}
}

// tree is processes, each held by a pidfd: a number that is used again is not mistaken for the old one.
type tree map[int]int

func watchTree(t *testing.T, root int) tree {
	t.Helper()
	all := tree{}
	queue := []int{root}
	for len(queue) > 0 {
		pid := queue[0]
		queue = queue[1:]
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			continue
		}
		all[pid] = fd
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
		for f := range strings.FieldsSeq(string(b)) {
			n, _ := strconv.Atoi(f)
			queue = append(queue, n)
		}
	}
	return all
}

// gone fails for every process that outlives the bound.
func (all tree) gone(t *testing.T) {
	t.Helper()
	deadline := time.Now().Add(bound)
	for pid, fd := range all {
		p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := 0, error(unix.EINTR)
		for err == unix.EINTR {
			n, err = unix.Poll(p, max(0, int(time.Until(deadline).Milliseconds())))
		}
		if n == 0 || err != nil {
			cmdline, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			t.Errorf("process %d (%q) is left: %v", pid, cmdline, err)
			_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
		}
		unix.Close(fd)
	}
}

func TestKillAnyStage(t *testing.T) {
	needBox(t)
	for _, mode := range []string{"hold", "hold-lite"} {
		for _, point := range []string{"started", "ready", "running"} {
			for _, victim := range []string{"psb", "keeper", "reaper", "program", "group"} {
				if point == "started" && victim != "psb" && victim != "keeper" {
					continue // not known yet
				}
				t.Run(mode+"/"+point+"/"+victim, func(t *testing.T) { killStage(t, mode+" "+point, victim) })
			}
		}
	}
}

func killStage(t *testing.T, role, victim string) {
	cmd := psb(t, role)
	cmd.Stderr = nil
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	lines := bufio.NewReader(stdout)
	var keeper, program int
	line, _ := lines.ReadString('\n')
	if _, err := fmt.Sscan(line, &keeper, &program); err != nil {
		_ = cmd.Process.Kill()
		t.Fatalf("%q: %v", line, err)
	}
	all := watchTree(t, keeper)
	for deadline := time.Now().Add(5 * time.Second); strings.HasSuffix(role, "running") && len(all) < 5; all = watchTree(t, keeper) { // keeper, reaper, program, its two children
		if time.Now().After(deadline) {
			t.Fatalf("only %d processes: %v", len(all), all)
		}
		time.Sleep(time.Millisecond)
	}
	target := map[string]int{"psb": cmd.Process.Pid, "keeper": keeper, "program": program, "group": -cmd.Process.Pid}[victim]
	if victim == "reaper" {
		target = parentOf(t, program)
	}
	if err := unix.Kill(target, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if victim != "psb" && victim != "group" { // psb lives: it must notice
		done := make(chan string, 1)
		go func() { rest, _ := lines.ReadString('\n'); done <- rest }()
		select {
		case rest := <-done:
			if clean := rest == "<nil>\n"; clean != (victim == "program" && strings.HasSuffix(role, "running")) && victim != "program" {
				t.Errorf("psb says %q", rest)
			}
			for pid, fd := range all {
				if strings.HasSuffix(role, "started") {
					break // psb may not know the first process yet, which has done nothing and ends by itself
				}
				// Done means that nothing is left, not that it soon will be
				if n, _ := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0); n == 0 {
					t.Errorf("process %d outlives Done", pid)
				}
			}
		case <-time.After(bound):
			t.Error("psb does not notice")
			_ = cmd.Process.Kill()
		}
	}
	all.gone(t)
}

func parentOf(t *testing.T, pid int) int {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	n, err := strconv.Atoi(fields[1])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// The keeper, or psb's wish, may end at any moment of the building: the program's output ends with the last process that holds it.
func TestEndAtAnyMoment(t *testing.T) {
	needBox(t)
	for i := range 120 {
		s := shellBox("sleep 1000")
		if i%4 >= 2 {
			lite(s)
		}
		out, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		box, err := Start(s, [3]*os.File{nil, w, w})
		w.Close()
		if err != nil {
			t.Fatal(err)
		}
		told := make(chan struct{})
		go func() {
			defer close(told)
			if _, err := box.Ready(); err == nil {
				_ = box.Release()
			}
		}()
		for spin := time.Now(); time.Since(spin) < time.Duration(i)*50*time.Microsecond; {
		}
		if i%2 == 0 {
			box.Kill()
		} else if err := unix.Kill(box.Keeper(), unix.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if err := out.SetReadDeadline(time.Now().Add(bound)); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 1)); err != io.EOF {
			t.Fatalf("moment %d: %v, somebody is left", i, err)
		}
		<-told // Wait closes what it reads from
		if _, err := box.Wait(); err == nil {
			t.Fatalf("moment %d: no error", i)
		}
		out.Close()
	}
}
