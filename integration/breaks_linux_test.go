package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// Each test of the files breaks_* is a way out that was once found and mended.

// trial is one break in one scene: without psb, as the control, or with it.
type trial struct {
	scene
	boxed bool
	env   []string
}

// against tries a break as each person. try says what it reached, "" for nothing: without psb it must reach something, with psb nothing.
func against(t *testing.T, try func(t *testing.T, s trial) (reached string)) {
	t.Helper()
	for _, who := range people() {
		t.Run(who.name, func(t *testing.T) {
			besideOthers(t)
			control := trial{scene: newScene(t, who)}
			_, err := control.choose(t, "system", nil)
			ledger.Need(t, "python3", err)
			if try(t, control) == "" {
				t.Fatal("control: without psb the break reaches nothing, so it proves nothing")
			}
			if controlOnly() {
				return
			}
			if got := try(t, trial{scene: newScene(t, who), boxed: true}); got != "" {
				t.Errorf("the break reached %s", got)
			}
		})
	}
}

// files puts files into the project.
func (s trial) files(t *testing.T, files map[string]string) {
	t.Helper()
	for name, text := range files {
		s.put(t, "home/code/project/"+name, text)
	}
	s.give(t)
}

// program copies an attack into the project.
func (s trial) program(t *testing.T, name string) {
	t.Helper()
	b, err := os.ReadFile("testdata/attack/" + name)
	must(t, err)
	s.files(t, map[string]string{name: string(b)})
}

// rules writes the project's policy.
func (s trial) rules(t *testing.T, files string) {
	t.Helper()
	s.files(t, map[string]string{".py-sandboxes": kernelPolicy + "[files]\n" + files})
}

// argv is python's command line, behind psb in a boxed trial.
func (s trial) argv(t *testing.T, options []string, args ...string) []string {
	t.Helper()
	if !s.boxed {
		return append([]string{systemPython}, args...)
	}
	return slices.Concat([]string{psb(t), "--python", systemPython}, options, args)
}

// runs runs a program of the project under the project's policy. It must have started.
func (s trial) runs(t *testing.T, args ...string) result {
	t.Helper()
	return s.started(t, s.run(t, call{argv: s.argv(t, []string{"--policy", ".py-sandboxes"}, args...), env: s.env}))
}

// learns is runs while learning.
func (s trial) learns(t *testing.T, args ...string) result {
	t.Helper()
	return s.started(t, s.run(t, call{argv: s.argv(t, []string{"--learn"}, args...), env: s.env}))
}

func (s trial) started(t *testing.T, r result) result {
	t.Helper()
	if !strings.HasPrefix(r.out, "started\n") {
		t.Fatalf("the break never ran, so nothing is proved: %v", r)
	}
	return r
}

// secret is a file that no rule of any trial names, and what it holds.
func (s trial) secret() (path, text string) {
	return filepath.Join(s.sibling, s.token+".txt"), "# " + s.token
}

// showing prints the files it is given, as far as it can.
const showing = `import sys
print("started", flush=True)
for path in sys.argv[1:]:
    try:
        print(open(path, errors="replace").read())
    except OSError as e:
        print(path, e.strerror)
`

// TestBreakExecutableBytes: what an executable file says of its loader, libraries or interpreter grants nothing of the user's. The bytes
// may be a stranger's, or the box's own doing of the run before.
func TestBreakExecutableBytes(t *testing.T) {
	besideOthers(t)
	_, err := exec.LookPath("cc")
	ledger.Need(t, "cc", err)
	cc := func(t *testing.T, out string, args ...string) {
		t.Helper()
		if text, err := exec.Command("cc", append([]string{"-O1", "-w", "-o", out}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("cc %q: %v\n%s", args, err, text)
		}
		must(t, os.Chmod(out, 0o755))
	}
	stub := func(t *testing.T, s trial, name string) string {
		t.Helper()
		source, out := s.put(t, "stub.c", "int stub;\n"), filepath.Join(s.dir, "stub.so")
		cc(t, out, "-shared", "-nostdlib", "-Wl,-soname,"+name, source)
		return out
	}

	t.Run("one run", func(t *testing.T) {
		against(t, func(t *testing.T, s trial) string {
			path, text := s.secret()
			target := filepath.Join(s.project, "program")
			cc(t, target, "-nostdlib", "-fpie", "-pie", "-ffreestanding", "-fno-stack-protector", "-Wl,--no-dynamic-linker", "-Wl,--no-as-needed",
				fmt.Sprintf("-DTARGET=%q", path), "testdata/attack/lured.c", stub(t, s, path))
			s.files(t, map[string]string{"empty.toml": emptyPolicy})
			argv := []string{"./program"}
			if s.boxed {
				argv = []string{psb(t), "exec", "--policy", "empty.toml", "--", "./program"}
			}
			if r := s.started(t, s.run(t, call{argv: argv})); strings.Contains(r.out, text) {
				return "a library's content: " + r.out
			}
			return ""
		})
	})
	for _, c := range []struct {
		name string
		lure func(t *testing.T, s trial, secret string) []byte
	}{
		{"needed", func(t *testing.T, s trial, secret string) []byte {
			out, code := filepath.Join(s.dir, "lure"), s.put(t, "lure.c", "int main(void) { return 0; }\n")
			cc(t, out, "-Wl,--no-as-needed", code, stub(t, s, secret))
			b, err := os.ReadFile(out)
			must(t, err)
			return b
		}},
		{"run path", func(t *testing.T, s trial, secret string) []byte {
			out, code := filepath.Join(s.dir, "lure"), s.put(t, "lure.c", "int main(void) { return 0; }\n")
			_, text := s.secret()
			library, err := os.ReadFile(stub(t, s, filepath.Base(secret)))
			must(t, err)
			must(t, writeProgram(secret, append(library, "\n"+text+"\n"...))) // a search takes libraries only
			cc(t, out, "-Wl,--no-as-needed", "-Wl,-rpath,"+filepath.Dir(secret), code, stub(t, s, filepath.Base(secret)))
			b, err := os.ReadFile(out)
			must(t, err)
			return b
		}},
		{"loader", func(t *testing.T, s trial, secret string) []byte {
			out, code := filepath.Join(s.dir, "lure"), s.put(t, "lure.c", "int main(void) { return 0; }\n")
			cc(t, out, "-Wl,--dynamic-linker="+secret, code)
			b, err := os.ReadFile(out)
			must(t, err)
			return b
		}},
		{"first line", func(_ *testing.T, _ trial, secret string) []byte { return []byte("#!" + secret + "\n") }},
		{"first line with env", func(_ *testing.T, _ trial, secret string) []byte { return []byte("#!/usr/bin/env " + secret + "\n") }},
	} {
		t.Run("two runs/"+c.name, func(t *testing.T) {
			against(t, func(t *testing.T, s trial) string {
				path, text := s.secret()
				lure := c.lure(t, s, path)
				must(t, os.Chmod(path, 0o755)) // env wants something executable
				s.files(t, map[string]string{"show.py": showing, "bytes": string(lure), "tool": "#!/bin/sh\n",
					"write.py": "print('started', flush=True)\nopen('tool', 'wb').write(open('bytes', 'rb').read())\n"})
				must(t, os.Chmod(filepath.Join(s.project, "tool"), 0o755))
				s.rules(t, "\"bytes\" = \"read\"\n\"tool\" = [\"write\", \"exec\"]\n")
				first := s.runs(t, "write.py")
				if b, err := os.ReadFile(filepath.Join(s.project, "tool")); err != nil || string(b) != string(lure) {
					t.Fatalf("the first run did not write the file it may execute (%v): %v", err, first)
				}
				if r := s.runs(t, "show.py", path); strings.Contains(r.out, text) {
					return "a file by the first run's executable: " + r.out
				}
				return ""
			})
		})
	}
}

// unsharing asks for a user namespace, which no box gets.
const unsharing = `import ctypes
print("started", flush=True)
libc = ctypes.CDLL(None, use_errno=True)
print("unshare", libc.unshare(0x10000000), ctypes.get_errno())
`

// TestBreakOwnFolders: psb's own state and configuration stay as they are also where a rule lets the box write around them.
func TestBreakOwnFolders(t *testing.T) {
	besideOthers(t)
	for _, c := range []struct {
		name, variable, value, rule string // value and rule: below the home, with PROJECT for the project
	}{
		{"state/in the home", "XDG_STATE_HOME", ".local/state", ".local/"},
		{"state/in the project", "XDG_STATE_HOME", "work/project/own", "work/project/"},
		{"configuration/in the home", "XDG_CONFIG_HOME", ".config", ".config/"},
		{"configuration/in the project", "XDG_CONFIG_HOME", "work/project/own", "work/project/"},
	} {
		t.Run(c.name, func(t *testing.T) {
			against(t, func(t *testing.T, s trial) string {
				base := filepath.Join(s.home, c.value)
				own := filepath.Join(base, "psb")
				s.env = []string{c.variable + "=" + base}
				s.program(t, "change.py")
				s.program(t, "filters.py")
				s.files(t, map[string]string{"unshare.py": unsharing, "empty.toml": emptyPolicy})
				s.put(t, "home/"+c.value+"/psb/kept", "kept\n")
				s.rules(t, fmt.Sprintf("%q = \"write\"\n", filepath.Join(s.home, c.rule)+"/"))
				empty := func() string {
					return s.started(t, s.run(t, call{argv: s.argv(t, []string{"--policy", "empty.toml"}, "unshare.py"), env: s.env})).out
				}
				before := empty()
				if s.boxed && before != "started\nunshare -1 1\n" {
					t.Fatalf("the box before: %q", before)
				}
				s.runs(t, "unshare.py")
				files := regular(t, own)
				s.runs(t, append([]string{"change.py", s.word}, files...)...)
				s.runs(t, "change.py", s.word, filepath.Join(own, "approved", s.word), filepath.Join(own, "filters", s.word))
				s.runs(t, "filters.py", filepath.Join(own, "filters"), runtime.GOARCH)
				var reached []string
				for _, f := range files {
					if b, err := os.ReadFile(f); err != nil || strings.Contains(string(b), s.word) {
						reached = append(reached, f)
					}
				}
				for _, f := range regular(t, own) {
					if strings.Contains(f, s.word) {
						reached = append(reached, f)
					}
				}
				if after := empty(); s.boxed && after != before {
					reached = append(reached, "the next box: "+after)
				}
				return strings.Join(reached, ", ")
			})
		})
	}
	// The folder is not there yet, and the box makes it: what psb finds in it afterwards is not to be believed.
	t.Run("state/made by the box", func(t *testing.T) {
		against(t, func(t *testing.T, s trial) string {
			own := filepath.Join(s.project, "own")
			s.program(t, "filters.py")
			s.files(t, map[string]string{"unshare.py": unsharing, "empty.toml": emptyPolicy})
			s.rules(t, "\"./\" = \"write\"\n")
			next := func(state string) string {
				return s.started(t, s.run(t, call{argv: s.argv(t, []string{"--policy", "empty.toml"}, "unshare.py"), env: []string{"XDG_STATE_HOME=" + state}})).out
			}
			before := next(filepath.Join(s.home, "elsewhere"))
			var keys []string
			for _, f := range regular(t, filepath.Join(s.home, "elsewhere/psb/filters")) {
				keys = append(keys, filepath.Base(f))
			}
			s.env = []string{"XDG_STATE_HOME=" + own}
			s.runs(t, append([]string{"filters.py", filepath.Join(own, "psb/filters"), runtime.GOARCH}, keys...)...)
			if after := next(own); !s.boxed || after != before || before != "started\nunshare -1 1\n" {
				return fmt.Sprintf("the next box: %q, before it was %q", after, before)
			}
			return ""
		})
	})
}

// regular are the files below a folder; none when it is not there.
func regular(t *testing.T, dir string) (list []string) {
	t.Helper()
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			list = append(list, path)
		}
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return list
}

// TestBreakLearnUnapproved: learning adds to a policy that was read, never to one that a clone brought along.
func TestBreakLearnUnapproved(t *testing.T) {
	if controlOnly() {
		t.Skip("needs psb")
	}
	for _, who := range people() {
		t.Run(who.name, func(t *testing.T) {
			t.Parallel()
			s := trial{scene: newScene(t, who), boxed: true}
			_, err := s.choose(t, "system", nil)
			ledger.Need(t, "python3", err)
			path, text := s.secret()
			s.files(t, map[string]string{"show.py": showing})
			s.rules(t, fmt.Sprintf("%q = \"read\"\n", s.sibling+"/"))
			before, _ := s.policy(t)
			learn := call{argv: s.argv(t, []string{"--learn"}, "show.py", path)}
			plain := call{argv: s.argv(t, nil, "show.py", path)}
			for _, c := range []call{learn, plain} { // the second shows that the first approved nothing
				r := s.run(t, c)
				s.refused(t, r, 125, `approve`)
				if r.out != "" {
					t.Errorf("it ran: %v", r)
				}
			}
			if after, _ := s.policy(t); after != before {
				t.Errorf("the policy is now\n%s", after)
			}
			if r := s.run(t, call{argv: []string{psb(t), "policy", "approve"}}); r.code != 0 {
				t.Fatalf("psb policy approve: %v", r)
			}
			for _, c := range []call{learn, plain} {
				if r := s.run(t, c); r.code != 0 || !strings.Contains(r.out, text) {
					t.Errorf("approved: %v", r)
				}
			}
		})
	}
}
