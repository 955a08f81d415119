package integration

import (
	"strings"
	"testing"
)

// TestTerminalPromptUnderRules: with nothing allowed inside Python the prompt has its help, completion and history as ever; what is typed is the
// program: its imports and calls are judged, and its text is not "evaluated text".
func TestTerminalPromptUnderRules(t *testing.T) {
	for _, i := range tried() {
		t.Run(i.version(), func(t *testing.T) {
			each(t, func(t *testing.T, s scene) {
				if err := s.reaches(t, i, []string{"readline"}); err != nil {
					t.Skip(err)
				}
				s.put(t, "home/code/project/.py-sandboxes", bareVersion)
				s.give(t)
				k := s.console(t, call{argv: []string{psb(t), "--python", i.path, "--policy", ".py-sandboxes"}})
				k.expect(">>> ")
				k.send("help(len)\r")
				k.expect("Return the number of items in a container")
				k.expect(">>> ")
				k.send("import ctypes\r")
				k.expect("import ctypes is not in the policy; to allow it: psb policy add import ctypes")
				k.expect(">>> ")
				k.send("import os; os.system('true')\r")
				k.expect("call os.system is not in the policy; to allow it: psb policy add call os.system")
				k.expect(">>> ")
				k.send("eval('6*7')\r")
				k.expect("evaluated text is not in the policy; psb --learn writes what it needs to [python.eval]")
				k.expect(">>> ")
				k.send("def f(x):\r    return x * 7\r\rf(6) + 1000\r")
				k.expect("1042")
				k.expect(">>> ")
				k.send("os.get_terminal_si" + tabKey)
				k.expect("ze")
				k.send("\x15print('a' + 'b')\r") // Ctrl-U: the line is given up
				k.expect("ab\r\n")
				k.expect(">>> ")
				k.send("\x10") // Ctrl-P, one line back
				k.expect("print('a' + 'b')")
				k.send("\r")
				k.expect("ab\r\n")
				k.expect(">>> ")
				k.send("exit()\r")
				k.ends("0")
				shown := k.shown()
				for _, told := range []string{"psb: hint: psb policy add import ctypes\r\n", "psb: hint: psb policy add call os.system\r\n", "psb: hint: psb --learn writes what the text needs to [python.eval]\r\n"} {
					if !strings.Contains(shown, told) {
						t.Errorf("%q is not among\n%s", told, shown)
					}
				}
				if n := strings.Count(shown[strings.LastIndex(shown, "exit()"):], "psb: denied: "); n != 3 {
					t.Errorf("%d denials at the end of\n%s", n, shown)
				}
			})
		})
	}
}

// TestTerminalIPythonUnderRules: the same at IPython's prompt, which itself needs a thread for its history.
func TestTerminalIPythonUnderRules(t *testing.T) {
	each(t, func(t *testing.T, s scene) {
		s.system(t, map[string]string{"ipython": "IPython"})
		s.put(t, "home/code/project/.py-sandboxes", bareVersion+"[python.call]\n\"threading.Thread.start\" = true\n")
		s.give(t)
		k := s.console(t, call{argv: boxed(t, "-m", "IPython", "--no-banner", "--colors=NoColor", "--simple-prompt")})
		k.expect("In [1]: ")
		k.line("len?", "Return the number of items in a container")
		k.expect("In [2]: ")
		k.line("import textwrap", "In [3]: ")
		k.line("textwrap.fill??", "def fill(text, width=70")
		k.expect("In [4]: ")
		k.line("import ctypes", "import ctypes is not in the policy; to allow it: psb policy add import ctypes")
		k.expect("In [5]: ")
		k.line("eval('6*7')", "evaluated text is not in the policy; psb --learn writes what it needs to [python.eval]")
		k.expect("In [6]: ")
		k.line("import os; os.system('true')", "call os.system is not in the policy; to allow it: psb policy add call os.system")
		k.expect("In [7]: ")
		k.line("6*7", "Out[7]: 42")
		k.expect("In [8]: ")
		k.line("%history -l 1", "6*7")
		k.expect("In [9]: ")
		k.send("exit\n")
		k.ends("0")
		if shown := k.shown(); strings.Contains(shown, "denied: call threading") || !strings.Contains(shown, "psb: hint: psb policy add import ctypes\r\n") {
			t.Errorf("%s", shown)
		}
		k = s.console(t, call{argv: boxed(t, "-m", "IPython", "--no-banner", "--colors=NoColor", "--Completer.use_jedi=False")}) // with the full-screen line editor; jedi wants a cache in the home
		k.expect("In [")
		k.send("import textwrap\r")
		k.expect("In [")
		k.send("textwrap.shor" + tabKey)
		k.expect("shorten")
		k.send("('a b c', 100)\r")
		k.expect("a b c")
		k.expect("In [")
		k.send("exit\r")
		k.ends("0")
	})
}
