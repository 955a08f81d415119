package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"psb/integration/programs"
)

// probes are what probe.py can be asked to try.
var probes = []string{"read", "change", "rename", "remove", "list"}

// excess tries, under the learned policy, to get at what the program never used.
func (x *exam) excess() error {
	for _, what := range probes {
		if err := x.home.reset(x.Policy, false); err != nil {
			return err
		}
		reached, e, err := x.home.probe(what, boxed(x.home, x.python.Path)...)
		if err != nil {
			return err
		}
		if len(reached) > 0 {
			x.Excess += len(reached)
			x.fault(fmt.Sprintf("under the learned policy a program could %s %s", what, strings.Join(reached, ", ")), said(e))
		}
	}
	return nil
}

// control shows that the probes get at everything where nothing stops them: else the excess would be nought for a wrong reason.
func (w *workshop) control() error {
	who := learner
	if os.Getuid() != 0 {
		who = self()
	}
	s, err := w.newScene(who, "code/project")
	if err != nil {
		return err
	}
	defer s.drop()
	for _, what := range probes {
		if err := s.decoy(); err != nil {
			return err
		}
		reached, e, err := s.probe(what, programs.System)
		if err != nil {
			return err
		}
		if len(reached) == 0 {
			return fmt.Errorf("control: without psb the probe cannot %s: %v", what, e)
		}
	}
	return nil
}

// probe tries one thing on the decoys and the sibling, behind the words of launch, and names what it got at, as seen from outside.
func (s scene) probe(what string, launch ...string) (reached []string, e ending, err error) {
	// -c, not a file: the working folder then is the project, and the probe needs no rule of its own.
	e = s.run(time.Minute, slices.Concat(launch, []string{"-c", programs.Probe, what, s.sibling}, decoys)...)
	if e.late || e.code == 125 {
		return nil, e, fmt.Errorf("the probe did not run: %v", e)
	}
	if strings.Contains(e.out, s.token) {
		reached = append(reached, "content or names")
	}
	for _, name := range decoys {
		path := filepath.Join(s.project, name)
		info, err := os.Lstat(path)
		if err != nil {
			reached = append(reached, name)
			continue
		}
		if b, err := os.ReadFile(path); err != nil || !bytes.Equal(b, []byte(s.bait())) || info.Mode() != fs.FileMode(0o644) {
			reached = append(reached, name)
		}
	}
	return reached, e, nil
}

// unseen is the path a program wants that never asked for it while it was learned.
const unseen = "unseen/extra.txt"

// recovery lets the program want one path more: that has to be one line of refusal, whose hint, pasted, is all it needs.
func (x *exam) recovery() error {
	argv, err := x.rewrite()
	if err != nil {
		return err
	}
	want := x.home.perform(x.row, x.python.Path, x.row.Wait, append([]string{x.python.Path}, argv...)...)
	if _, err := x.rewrite(); err != nil {
		return err
	}
	argv = slices.Concat(x.loads(), argv)
	first := x.home.perform(x.row, x.python.Path, 2*x.row.Wait, boxed(x.home, x.python.Path, argv...)...)
	denied, hints := first.denials()
	if len(denied) != 1 || len(hints) != 1 || !strings.Contains(denied[0], "read "+unseen) {
		x.fault("recovery: not one refusal of one path", first.String())
		return nil
	}
	if e := x.home.run(time.Minute, "/bin/sh", "-c", hints[0]); e.code != 0 {
		x.fault("recovery: the hint cannot be pasted", e.String())
		return nil
	}
	second := x.home.perform(x.row, x.python.Path, 2*x.row.Wait, boxed(x.home, x.python.Path, argv...)...)
	d := differ(x.row, x.home, want, x.home, second)
	if x.Recovered = d == ""; !x.Recovered {
		x.fault("recovery: after the hint", d)
	}
	return nil
}

// loads are psb's options for a program that is installed, a module or a script of the system: what stands before the one, and a copy of the
// other, imports it and what native code of it imports, and nobody had to ask for that while it was learned.
func (x *exam) loads() []string {
	i := slices.IndexFunc(x.argv, func(a string) bool { return !strings.HasPrefix(a, "-") || a == "-m" || a == "-c" })
	if i < 0 || x.argv[i] != "-m" && !filepath.IsAbs(x.argv[i]) {
		return nil
	}
	return []string{"--allow", "import *"}
}

// rewrite puts the project back, with the path the program never asked for, and gives the command line of the program that asks for it.
func (x *exam) rewrite() ([]string, error) {
	if err := x.home.reset(x.Policy, false); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(x.home.project, filepath.Dir(unseen)), 0o755); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(x.home.project, unseen), []byte("more\n"), 0o644); err != nil {
		return nil, err
	}
	argv, err := x.wanting()
	if err != nil {
		return nil, err
	}
	return argv, x.home.give()
}

// wanting gives the command line of the program that wants one path more: its script begins with that, and before a module something does it.
func (x *exam) wanting() ([]string, error) {
	const want = "open(%q).close()"
	i := slices.IndexFunc(x.argv, func(a string) bool { return !strings.HasPrefix(a, "-") || a == "-m" || a == "-c" })
	switch {
	case i < 0:
		return nil, errors.New("a command line without a program")
	case x.argv[i] == "-c":
		argv := slices.Clone(x.argv)
		argv[i+1] = fmt.Sprintf(want, unseen) + "\n" + argv[i+1]
		return argv, nil
	case x.argv[i] == "-m":
		code := fmt.Sprintf(want+"\nimport runpy, sys\nsys.argv = sys.argv[1:]\nrunpy.run_module(sys.argv[0], run_name='__main__', alter_sys=True)", unseen)
		return slices.Concat(x.argv[:i], []string{"-c", code}, x.argv[i+1:]), nil
	}
	script := x.argv[i]
	path := script
	if !filepath.IsAbs(path) {
		path = filepath.Join(x.home.project, script)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if filepath.IsAbs(script) { // of the system: what is changed is a copy of the same name
		script = filepath.Base(script)
	}
	text = append(fmt.Appendf(nil, want+"\n", unseen), text...)
	return slices.Concat(x.argv[:i], []string{script}, x.argv[i+1:]), os.WriteFile(filepath.Join(x.home.project, script), text, 0o755)
}
