package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"psb/learn"
	"psb/policy"
)

// replayCommand is `psb replay FILE…`: recorded runs through learning again. It starts nothing and writes no file.
func replayCommand(w *world, status *int) *cobra.Command {
	var file string
	var runner bool
	c := &cobra.Command{Use: "replay [--policy FILE | --runner] RECORD…", Short: "print the policy that learning writes from recorded runs", DisableFlagsInUseLine: true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return &usageError{"replay needs a record", "psb --learn --record FILE … makes one"}
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			err := replay(w, file, runner, args)
			*status = refusedStatus(err)
			if err == nil {
				*status = 0
			}
			return err
		}}
	c.Flags().StringVar(&file, "policy", "", "add to the text of this policy `file`, which stays as it is")
	c.Flags().BoolVar(&runner, "runner", false, "of runs with --learn-runner: print the runner's policy, not the application's")
	return c
}

// replay is read → generalise → edit for each record, as learning would into one file; what comes out is printed.
func replay(w *world, file string, runner bool, records []string) error {
	runs := make([]*learn.Run, len(records))
	for i, name := range records {
		var err error
		if runs[i], err = readRecord(w, name); err != nil {
			return err
		}
		if runner && (file != "" || runs[i].Split == nil) {
			return &usageError{fmt.Sprintf("--runner: %s is no record of a run with --learn-runner", plainText(name)), "psb replay RECORD…"}
		}
	}
	text, err := replayOn(w, file, runs)
	if err != nil {
		return err
	}
	before := text
	var suite []byte
	for i, run := range runs {
		if len(runs) > 1 {
			w.ui.say("%s:", plainText(records[i]))
		}
		p, err := recordedPolicy(w, file, text, run)
		if err != nil {
			return err
		}
		known := run.Knowledge()
		var missing []learn.Grant
		var report *learn.Report
		if run.Split != nil {
			missing, _ = run.Split.Application(known, p)
			report = &learn.Report{Added: missing} // as the run did: the whole is told with the runner's
		} else {
			missing, report = learn.Propose(run.Set, known, p)
		}
		if text, _, err = policy.Edit(text, learn.Rules(missing)); err != nil {
			return refuse("", "%s: %s", plainText(records[i]), err)
		}
		if runner {
			if suite, report, err = replaySuite(w, suite, text, run); err != nil {
				return err
			}
		}
		end := run.Ending()
		if run.Split != nil && !runner {
			end.Peak = 0
		}
		report.Ended(end)
		for _, l := range report.Lines() {
			w.ui.say("%s", plainLine(l))
		}
	}
	switch {
	case file != "":
		tellAdded(w, file, before, text)
	case runner:
		text = suite
	}
	_, err = w.stdio[1].Write(text)
	return err
}

// replaySuite adds to the runner's policy, which includes the application's as it is now, what the whole run needed beyond that.
func replaySuite(w *world, suite, app []byte, run *learn.Run) ([]byte, *learn.Report, error) {
	said := run.Words[learn.RunnerWord]
	if len(said) != 3 || !filepath.IsAbs(said[0]) {
		return nil, nil, refuse("", "the record does not say what the runner's policy was")
	}
	if suite == nil {
		suite = beginSuite(said[1], said[2])
	}
	known := run.Knowledge()
	known.Folder = filepath.Dir(said[0])
	p, err := policy.Load(func(name string) ([]byte, error) {
		switch name {
		case said[0]:
			return suite, nil
		case run.Word("policy"):
			return app, nil
		}
		return nil, fs.ErrNotExist
	}, said[0], known.Macros)
	if err != nil {
		return nil, nil, refuse("", "%s", err)
	}
	if p, err = inRun(w, p, known.Folder, run); err != nil {
		return nil, nil, err
	}
	missing, report := learn.Propose(run.Set, known, p)
	suite, _, err = policy.Edit(suite, learn.Rules(missing))
	return suite, report, err
}

// replayOn is the text that learning would have begun with.
func replayOn(w *world, file string, runs []*learn.Run) ([]byte, error) {
	if file == "" {
		return policy.New(runs[0].Word("about")), nil
	}
	text, err := policy.ReadFile(absolute(w.cwd, file))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, refuse("", "policy %s: no such file", plainText(file))
	}
	if err != nil {
		return nil, refuse("", "%s", err)
	}
	return text, nil
}

// readRecord reads one record; an error names its line.
func readRecord(w *world, name string) (*learn.Run, error) {
	f, err := os.Open(absolute(w.cwd, name))
	if err != nil {
		return nil, refuse("psb --learn --record FILE … makes one", "record %s: %v", plainText(name), unwrapPath(err))
	}
	defer f.Close()
	if fi, err := f.Stat(); err != nil || !fi.Mode().IsRegular() {
		return nil, refuse("", "record %s: no regular file", plainText(name))
	}
	run := learn.NewRun()
	if err := learn.Replay(f, run.Add); err != nil {
		return nil, refuse("psb --learn --record FILE … makes a record", "%s: %s", plainText(name), err)
	}
	if k := run.Knowledge(); k.Macros.Project == "" || !filepath.IsAbs(k.Macros.Project) {
		return nil, refuse("psb --learn --record FILE … makes a record", "%s: it does not say which project it is of", plainText(name))
	}
	return run, nil
}

// recordedPolicy reads the policy text as it would have counted in a recorded run: words of paths mean what they meant there, and the file
// stands where the run's own policy stood. Only with a file named are includes read.
func recordedPolicy(w *world, file string, text []byte, run *learn.Run) (*policy.Policy, error) {
	known := run.Knowledge()
	here, name := filepath.Join(known.Folder, policyName), policyName
	if file != "" {
		here, name = absolute(w.cwd, file), shown(w.cwd, absolute(w.cwd, file))
	}
	m := macros(w.id, filepath.Dir(here), "", "", "", w.lookup)
	m.Cwd = w.cwd
	p, err := policy.Load(func(asked string) ([]byte, error) {
		if asked == name {
			return text, nil
		}
		return policy.ReadFile(asked)
	}, name, m)
	if err != nil {
		return nil, refuse("psb policy help", "%s", err)
	}
	if p.Locked {
		return nil, refuse("", "%s is locked: learning cannot add to it", plainText(name))
	}
	p.Sources[0].Path = here
	m = known.Macros
	m.Getenv = w.lookup
	var allowed []policy.Rule
	for _, words := range run.Words["allow"] {
		r, err := policy.ParseRule(words, m.Cwd, m)
		if err != nil {
			return nil, refuse("", "the record's --allow %s: %s", plainText(words), err)
		}
		allowed = append(allowed, r)
	}
	if p, err = p.Allow("command line", allowed...); err != nil {
		return nil, refuse("", "%s", err)
	}
	return inRun(w, p, filepath.Dir(here), run)
}

// inRun gives a policy that stands in a folder the paths it would have had in a recorded run: in another checkout its files stand where that
// run's policy stood. Values of variables are the present ones, since a record holds none.
func inRun(w *world, p *policy.Policy, folder string, run *learn.Run) (*policy.Policy, error) {
	known := run.Knowledge()
	if folder != known.Macros.Project && folder != known.Folder {
		for i := range p.Sources {
			if s := &p.Sources[i]; below(s.Path, folder) {
				s.Path = filepath.Join(known.Folder, strings.TrimPrefix(s.Path, folder))
			}
		}
	}
	m := known.Macros
	m.Getenv = w.lookup
	q, err := p.Expand(m)
	if err != nil {
		return nil, refuse("psb policy help", "%s", err)
	}
	return q, nil
}

// tellAdded names what the records would add to a policy that is there.
func tellAdded(w *world, file string, before, after []byte) {
	had := map[string]int{}
	for line := range strings.Lines(string(before)) {
		had[line]++
	}
	n := 0
	for line := range strings.Lines(string(after)) {
		if n++; had[line] > 0 {
			had[line]--
			continue
		}
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "[") {
			w.ui.say("%s:%d would be: %s", plainText(file), n, line)
		}
	}
	if string(before) == string(after) {
		w.ui.say("%s already allows all that was seen", plainText(file))
	}
}
