package integration

import (
	"fmt"
	"strings"
	"testing"
)

// shell runs a command in a session, "" for a box of its own; more are arguments in pairs.
func (a *agent) shell(session, command string, more ...any) ran {
	a.t.Helper()
	args := map[string]any{"command": command}
	if session != "" {
		args["session"] = session
	}
	for i := 0; i+1 < len(more); i += 2 {
		args[more[i].(string)] = more[i+1]
	}
	return a.tool("run_shell", args)
}

// code is the status that a run ended with, "none" where there is none.
func (r ran) code() string {
	if c := r.Meta.Result.Exit.Code; c != nil {
		return fmt.Sprint(*c)
	}
	return "none"
}

// TestMCPCommands: commands of a session, one after the other: each begins where the last one ended with what it exported, cwd counts for one alone,
// statuses and output are as the shell gave them, and nothing of psb's own is among them.
func TestMCPCommands(t *testing.T) {
	besideOthers(t)
	each(t, func(t *testing.T, s scene) {
		a := s.agent(t)
		a.inside("w", "import os; os.makedirs('/workspace/d/e'); open('/workspace/file', 'w').close(); os.environ['BY_PYTHON'] = 'p'").want(t, "ok")
		large := strings.Repeat("v", 100_000)
		for _, c := range []struct{ command, code, stdout, stderr, cwd string }{
			{command: "pwd; echo $BY_PYTHON", code: "0", stdout: "/workspace\np\n"},
			{command: "cd d; export A=\"it's\n\\\"b\\\" \\$c \\\\ é\" B=2; LOCAL=x; ONCE=1 sh -c 'echo $ONCE'; exit 7", code: "7", stdout: "1\n"},
			{command: "pwd; printf '%s|' \"$A\" \"$B\" \"$LOCAL\" \"$ONCE\"", code: "0", stdout: "/workspace/d\nit's\n\"b\" $c \\ é|2|||"},
			{command: "pwd; cd /tmp; unset B", code: "0", stdout: "/workspace/d/e\n", cwd: "d/e"},
			{command: "pwd; echo ${B-none}", code: "0", stdout: "/workspace/d\nnone\n"},
			{command: "pwd", code: "0", stdout: "/workspace\n", cwd: "."},
			{command: "pwd", code: "0", stdout: "/workspace/made/here\n", cwd: "/workspace/made/here"},
			{command: "pwd", code: "126", stderr: "run_shell: the shell cannot be started: NotADirectoryError: [Errno 20] Not a directory: '/workspace/file'\n", cwd: "file"},
			{command: "set -x; true", code: "0", stderr: "+ true\n"},
			{command: "printf 'no end of line'", code: "0", stdout: "no end of line"},
			{command: "true", code: "0"},
			{command: "cat <<E\n1 and $((1 + 1))\nE", code: "0", stdout: "1 and 2\n"},
			{command: "exec sh -c 'cd /; echo another; exit 5'", code: "5", stdout: "another\n"},
			{command: "pwd", code: "0", stdout: "/workspace/d\n"},
			{command: "kill -9 $$", code: "137"},
			{command: "trap 'echo its own' EXIT; cd /tmp; exit 2", code: "2", stdout: "its own\n"},
			{command: "(cd /; exit 4)", code: "4"},
			{command: "set -e; cd e; false; echo never", code: "1"},
			{command: "pwd; rmdir /workspace/d/e", code: "0", stdout: "/workspace/d/e\n"},
			{command: "pwd; cd d", code: "0", stdout: "/workspace\n"}, // where it ended is gone
			{command: "export LARGE=" + large, code: "0"},
			{command: "echo ${#LARGE}", code: "0", stdout: fmt.Sprintln(len(large))},
			{command: "echo some; no-such-program; exit $?", code: "127", stdout: "some\n", stderr: "sh: 1: no-such-program: not found\n"},
			{command: "printf '\\nover 1 0\\n{\"exit\":{\"code\":0}}\\n'; cd /; exit 9", code: "9", stdout: "\nover 1 0\n{\"exit\":{\"code\":0}}\n"},
			{command: "pwd", code: "0", stdout: "/\n"},
			{command: "no-such-folder/x", code: "127", stderr: "sh: 1: no-such-folder/x: not found\n"},
		} {
			more := []any{}
			if c.cwd != "" {
				more = append(more, "cwd", c.cwd)
			}
			r := a.shell("w", c.command, more...)
			if r.code() != c.code || r.part("stdout") != c.stdout || r.part("stderr") != c.stderr || r.IsError != (c.code != "0") {
				t.Errorf("%.80q in %q: status %s, want %s; stdout %q, want %q; stderr %q, want %q\n%.500s", c.command, c.cwd, r.code(), c.code, r.part("stdout"), c.stdout, r.part("stderr"), c.stderr, r.text())
			}
		}
		// What Python sets afterwards counts, and of a shell's it has nothing.
		r := a.inside("w", "had = 'A' in os.environ, 'LARGE' in os.environ, os.getcwd(); os.environ['A'] = 'python'; had")
		r.want(t, "ok", "(False, False, '/workspace')")
		a.shell("w", "echo $A ${#LARGE}").want(t, "ok", "python 100000")
		// An environment that no program can be given is said, and taken back.
		a.inside("w", "for i in range(400): os.environ['V%d' % i] = 'x' * 20_000").want(t, "ok")
		a.shell("w", "true").want(t, "error", "run_shell: the shell cannot be started: OSError: [Errno 7] Argument list too long", "the program says 126")
		a.inside("w", "for i in range(400): del os.environ['V%d' % i]").want(t, "ok")
		a.shell("w", "echo on").want(t, "ok", "on")
		for _, cwd := range []string{"/etc", "../x", "/workspacex", "a\x1bb"} {
			for _, session := range []string{"", "w"} {
				a.shell(session, "pwd", "cwd", cwd).want(t, "refused", "cwd: ")
			}
		}
		a.shell("", "pwd", "cwd", "f/g", "files", []any{map[string]any{"path": "f", "content": "x"}}).want(t, "refused", `cwd: files[0] makes "f" a file`)
	})
}

// TestMCPSessionClosedOutputs: code that closes its outputs, or what stands in for them, is heard again in the next call.
func TestMCPSessionClosedOutputs(t *testing.T) {
	besideOthers(t)
	s := newScene(t, people()[0])
	a := s.agent(t)
	for _, c := range []string{"import os; os.closerange(0, 256)", "import sys; sys.stdout.close(); sys.stderr.close()", "import os, sys; os.closerange(0, 256); sys.stdout.close(); sys.stdin.close()",
		"import sys; sys.stdout = sys.stderr = None", "del __builtins__"} {
		a.inside("w", c).want(t, "ok")
		r := a.inside("w", "import sys; print('out'); print('err', file=sys.stderr)\n1/0")
		r.want(t, "error", "ZeroDivisionError")
		if r.part("stdout") != "out\n" || r.part("stderr") != "err\n" {
			t.Errorf("after %q: %s", c, r.text())
		}
		if r := a.shell("w", "echo out; echo err >&2; exit 3"); r.part("stdout") != "out\n" || r.part("stderr") != "err\n" || r.code() != "3" {
			t.Errorf("after %q: %s", c, r.text())
		}
	}
	// With nothing left of them the code runs all the same.
	a.inside("w", "import os; os.closerange(0, 1024)").want(t, "ok")
	a.inside("w", "print('lost')\n6 * 7").want(t, "ok", "42")
}
