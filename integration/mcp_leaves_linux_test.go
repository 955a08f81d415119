package integration

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// traces are what a box is made of beyond its processes: its control groups, by their own names, and its mount namespace.
type traces struct {
	groups []string
	mounts string
}

// tracesOf reads them from a process of the box.
func tracesOf(t *testing.T, pid int) (found traces) {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	must(t, err)
	for line := range strings.Lines(string(b)) {
		for part := range strings.SplitSeq(strings.TrimSpace(line[strings.LastIndex(line, ":")+1:]), "/") {
			if strings.HasPrefix(part, "psb-") && !slices.Contains(found.groups, part) {
				found.groups = append(found.groups, part)
			}
		}
	}
	found.mounts, err = os.Readlink(fmt.Sprintf("/proc/%d/ns/mnt", pid))
	must(t, err)
	return found
}

// left are those that are still there.
func (x traces) left(t *testing.T) (left []string) {
	t.Helper()
	must(t, filepath.WalkDir("/sys/fs/cgroup", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && slices.Contains(x.groups, d.Name()) {
			left = append(left, name)
		}
		return nil // a group may go while it is looked at
	}))
	all, err := filepath.Glob("/proc/[0-9]*/ns/mnt")
	must(t, err)
	for _, name := range all {
		if at, err := os.Readlink(name); err == nil && at == x.mounts {
			left = append(left, name)
		}
	}
	return left
}

// TestMCPLeavesNothing: of a run whose client gives it up, or goes away, nothing is left: no process, no control group, no mounts. The one that gave
// it up hears no more of it, and the next call is answered.
func TestMCPLeavesNothing(t *testing.T) {
	besideOthers(t)
	each(t, func(t *testing.T, s scene) {
		a := s.agent(t)
		begin := func() (int, <-chan answered, traces) {
			id, ch := a.begin("tools/call", map[string]any{"name": "run_python", "arguments": map[string]any{
				"code": fmt.Sprintf("import subprocess\nsubprocess.Popen(['sh', '-c', 'sleep 600; true', %q], start_new_session=True)\nwhile True: pass", s.word)}})
			until(t, "it runs", func() bool { return len(withWord(t, s.word)) > 0 })
			found := tracesOf(t, withWord(t, s.word)[0].pid)
			if s.who.uid == 0 && holds("memory") && len(found.groups) == 0 {
				t.Error("it has no control group")
			}
			return id, ch, found
		}
		gone := func(found traces) {
			t.Helper()
			until(t, "the tree is gone", func() bool { return len(withWord(t, s.word)) == 0 })
			until(t, fmt.Sprintf("nothing is left of it, %v", found), func() bool { return len(found.left(t)) == 0 })
		}
		id, ch, found := begin()
		a.write(map[string]any{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": map[string]any{"requestId": id}})
		gone(found)
		a.python("1").want(t, "ok", "1")
		_, ch2, found := begin()
		a.in.Close()
		<-a.ended
		gone(found)
		for _, ch := range []<-chan answered{ch, ch2} {
			select {
			case got := <-ch:
				t.Errorf("an answer that nobody waits for: %s", got.Result)
			default:
			}
		}
		mounted, err := os.ReadFile("/proc/self/mountinfo")
		must(t, err)
		if bytes.Contains(mounted, []byte(" /run/call ")) || bytes.Contains(mounted, []byte(" /workspace ")) {
			t.Errorf("a mount of a box on the host:\n%s", mounted)
		}
	})
}

// unnamedSockets are the unix sockets that nobody can find: pairs between a process and its children.
func unnamedSockets(t *testing.T) map[string]bool {
	t.Helper()
	text, err := os.ReadFile("/proc/net/unix")
	must(t, err)
	found := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 7 { // an eighth is a name
			found["socket:["+f[6]+"]"] = true
		}
	}
	return found
}

// TestMCPNobodyAsks: a server that nobody asks anything has no socket that somebody could find, prints nothing and ends well with its client, boxes that waited included.
func TestMCPNobodyAsks(t *testing.T) {
	besideOthers(t)
	s := newScene(t, people()[0])
	a := s.agent(t)
	var waiting []process // looked at once: a process may be starting another program when it is looked at again
	until(t, "boxes wait", func() bool { waiting = a.waiting(); return len(waiting) > 0 })
	found := tracesOf(t, waiting[0].pid)
	fds, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", a.cmd.Process.Pid))
	must(t, err)
	unnamed := unnamedSockets(t)
	for _, fd := range fds {
		if to, err := os.Readlink(fd); err == nil && strings.HasPrefix(to, "socket:") && !unnamed[to] {
			t.Errorf("%s is %s", fd, to)
		}
	}
	a.in.Close()
	<-a.ended
	if err := a.cmd.Wait(); err != nil {
		t.Error(err)
	}
	until(t, "nothing is left", func() bool { return len(found.left(t)) == 0 })
	if got := a.errs.String(); got != "" && !strings.HasPrefix(got, "psb: this host lacks: ") {
		t.Errorf("%s", got)
	}
}
