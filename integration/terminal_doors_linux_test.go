package integration

import (
	"strings"
	"testing"
)

// backDoor is a part of Python that runs what somebody else named: a debugger's prompt, a pager, a browser.
type backDoor struct {
	name  string
	env   string // a variable by which it is named; "" for none. {file} is what must not be read
	argv  []string
	stdin string
	tty   bool   // it opens at a terminal only
	rest  string // what it shows all the same
}

var backDoors = []backDoor{
	{name: "a debugger's prompt", argv: []string{"-c", "breakpoint()"}, stdin: "import os; os.system('cat {file}')\nc\n"},
	{name: "a prompt of one's own", argv: []string{"-c", "import code; code.interact()"}, stdin: "import os; os.system('cat {file}')\n"},
	{name: "the prompt after a program", argv: []string{"-i", "-c", "pass"}, stdin: "import subprocess; subprocess.run(['cat', '{file}'])\n"},
	{name: "PYTHONBREAKPOINT", env: "PYTHONBREAKPOINT=os.system", argv: []string{"-c", "breakpoint('cat {file}')"}},
	{name: "PYTHONSTARTUP", env: "PYTHONSTARTUP={file}.py", tty: true, rest: ">>> "},
	{name: "a pager", env: "PAGER=cat {file}", argv: []string{"-c", "help(len)"}, tty: true, rest: "Help on built-in function len"},
	{name: "a manual's pager", env: "MANPAGER=cat {file}", argv: []string{"-c", "help(len)"}, tty: true, rest: "Help on built-in function len"},
	{name: "a browser", env: "BROWSER=/bin/cat {file} %s", argv: []string{"-c", "import webbrowser; webbrowser.open('file:///etc/hostname')"}},
	{name: "a browser by the way", env: "BROWSER=/bin/cat {file} %s", argv: []string{"-c", "import antigravity"}},
}

// TestTerminalBackDoors: what Python starts when it is asked to be interactive starts nothing of the host, whoever names it, with everything
// inside Python allowed and with nothing. Without psb each door leads to the file.
func TestTerminalBackDoors(t *testing.T) {
	for _, d := range backDoors {
		t.Run(d.name, func(t *testing.T) {
			each(t, func(t *testing.T, s scene) {
				file := s.sibling + "/" + s.token + ".txt"
				s.put(t, "home/code/sibling/"+s.token+".txt.py", "print('# "+s.token+"')\n")
				s.give(t)
				if shown := s.through(t, d, file, systemPython); !strings.Contains(shown, "# "+s.token) {
					t.Fatalf("the control run reached nothing: %s", shown)
				}
				name, _, named := strings.Cut(d.env, "=")
				everything := []string{"--allow", "import *", "--allow", "call *"}
				for _, how := range []struct {
					name   string
					more   []string
					passed bool
				}{{"nothing allowed", nil, false}, {"everything inside Python allowed", everything, false}, {"and the variable passed", append(everything, "--allow", "env "+name), true}} {
					if how.passed && !named {
						continue
					}
					argv := append([]string{psb(t), "--python", systemPython, "--policy", ".py-sandboxes"}, how.more...)
					shown := s.through(t, d, file, argv...)
					if strings.Contains(shown, "# "+s.token) {
						t.Errorf("%s: the file was shown: %s", how.name, shown)
					}
					if !how.passed && !strings.Contains(shown, d.rest) || strings.Contains(shown, "psb: hint: psb --help") {
						t.Errorf("%s: %q was not shown: %s", how.name, d.rest, shown)
					}
				}
			})
		})
	}
}

// through goes through a back door and gives everything that was shown.
func (s scene) through(t *testing.T, d backDoor, file string, argv ...string) string {
	t.Helper()
	fill := strings.NewReplacer("{file}", file)
	c := call{argv: argv, stdin: strings.NewReader(fill.Replace(d.stdin))}
	for _, a := range d.argv {
		c.argv = append(c.argv, fill.Replace(a))
	}
	if d.env != "" {
		c.env = []string{fill.Replace(d.env)}
	}
	if !d.tty {
		r := s.run(t, c)
		if r.code == 125 {
			t.Fatal(r)
		}
		return r.out + r.err
	}
	k := s.console(t, c)
	if len(d.argv) == 0 {
		k.expect(">>> ")
		k.send(ctrlD)
	}
	if r := k.end(); r.code == 125 {
		t.Fatal(r)
	}
	return k.shown()
}
