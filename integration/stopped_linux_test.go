package integration

import (
	"strings"
	"syscall"
	"testing"
)

// TestWallHoldsAStoppedProgram: away from a terminal a program that stops itself does not stop what bounds it, neither at a first start nor at one
// that was kept.
func TestWallHoldsAStoppedProgram(t *testing.T) {
	for _, who := range people() {
		t.Run(who.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, who)
			_, err := s.choose(t, "system", nil)
			ledger.Need(t, "python3", err)
			s.put(t, "home/code/project/stops.py", "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)\nprint('went on')\n")
			s.put(t, "home/code/project/.py-sandboxes", bareVersion+kernelTables)
			s.give(t)

			bare := s.command(t.Context(), call{argv: []string{systemPython, "stops.py"}})
			bare.SysProcAttr.Setpgid, bare.SysProcAttr.Setsid = false, true
			must(t, bare.Start())
			var status syscall.WaitStatus
			if _, err := syscall.Wait4(bare.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
				t.Fatalf("control: without psb it does not stop: %v %v", status, err)
			}
			must(t, bare.Process.Kill())
			_, _ = bare.Process.Wait()
			if controlOnly() {
				return
			}
			for range 2 {
				cmd := s.command(t.Context(), call{argv: []string{psb(t), "--policy", ".py-sandboxes", "--python", systemPython, "--limit=wall=2s", "stops.py"}})
				cmd.SysProcAttr.Setpgid, cmd.SysProcAttr.Setsid = false, true
				out, _ := cmd.CombinedOutput()
				if got := string(out); cmd.ProcessState.ExitCode() != 124 || !strings.HasPrefix(got, "psb: ended by the limit wall = 2s (command line)\n") {
					t.Errorf("status %v: %s", cmd.ProcessState, got)
				}
			}
		})
	}
}
