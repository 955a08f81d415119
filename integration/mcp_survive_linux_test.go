package integration

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
)

// TestMCPSessionStops: a call that takes too long and does not listen to its interrupt, in Python alone, is ended, and its session's state with it; one
// whose interpreter somebody kills from outside, too. Each is said, once more by the next call, and the call after that is as any other.
func TestMCPSessionStops(t *testing.T) {
	besideOthers(t)
	each(t, func(t *testing.T, s scene) {
		a := s.agent(t)
		a.inside("w", "keep = 41").want(t, "ok")
		a.inside("w", "n = 0\nwhile True: n += 1", "timeout_s", 0.5).want(t, "timeout", "KeyboardInterrupt", "generation 1")
		a.inside("w", "keep + (n > 0)").want(t, "ok", "42", "generation 1")

		r := a.inside("w", "import time\nwhile True:\n  try: time.sleep(60)\n  except BaseException: pass", "timeout_s", 0.5)
		r.want(t, "timeout", "ended by SIGKILL", "generation 2: its state was lost", "a call did not stop at its time limit")
		a.inside("w", "'keep' in globals()").want(t, "ok", "False", "generation 2: its state was lost")

		_, ch := a.begin("tools/call", map[string]any{"name": "run_python", "arguments": map[string]any{
			"session": "w", "code": fmt.Sprintf("import subprocess\nprint('begun', flush=True)\nsubprocess.run(['sh', '-c', 'sleep 600; true', %q])", s.word)}})
		until(t, "it runs", func() bool { return len(withWord(t, s.word)) > 0 })
		sleeping := withWord(t, s.word)[0]
		for _, p := range below(t, a.cmd.Process.Pid) {
			if p.pid == sleeping.parent { // the session's interpreter
				must(t, syscall.Kill(p.pid, syscall.SIGKILL))
			}
		}
		r = a.result(a.take(ch))
		if r.want(t, "killed", "ended by SIGKILL", "generation 3: its state was lost", "its interpreter was ended by SIGKILL"); r.part("stdout") != "begun\n" {
			t.Errorf("%s", r.text())
		}
		if left := withWord(t, s.word); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
		a.inside("w", "1 + 1").want(t, "ok", "2", "generation 3: its state was lost")
		if r := a.inside("w", "3"); strings.Contains(r.text(), "lost") {
			t.Errorf("told for ever: %s", r.text())
		}
	})
}
