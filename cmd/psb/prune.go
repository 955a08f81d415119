package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"psb/learn"
	"psb/policy"
)

// prune is read → judge → list: which lines of the policy nothing in the recorded runs needed. With write the file's own go; what is included
// is named and stays, and so do variables: of those only Python tells, and not what C reads.
func (e *editing) prune(records []string, write bool) error {
	runs := make([]*learn.Run, len(records))
	for i, name := range records {
		var err error
		if runs[i], err = readRecord(e.w, name); err != nil {
			return err
		}
	}
	written, err := e.load()
	if err != nil {
		return err
	}
	if write && written.Locked {
		return refuse("psb policy remove OP OBJECT, line by line", "%s is locked: prune --write changes nothing of it", shown(e.w.cwd, e.path))
	}
	var usage learn.Usage
	for _, run := range runs {
		p, err := e.load()
		if err != nil {
			return err
		}
		if p, err = inRun(e.w, p, filepath.Dir(e.path), run); err != nil {
			return err
		}
		usage.Count(p, run)
	}
	unused := usage.Unused(written)
	var own []policy.Rule
	for _, r := range unused {
		what := e.pruned(r)
		if what == "" {
			own = append(own, r)
		}
		if err := e.sayLine("unused: %s %s (of %s)%s", originWords(r.Origin.File, r.Origin.Line, r.Origin.From), r, counted(usage.Runs, "run"), what); err != nil {
			return err
		}
	}
	e.tellRuns(records, runs, len(unused))
	if !write || len(own) == 0 {
		return nil
	}
	return e.change(func(old []byte) (text []byte, changes []policy.Change, err error) {
		text = old
		for _, r := range slices.Backward(own) { // from below, so that the lines told are those of the file as it was
			var c []policy.Change
			if text, c, err = policy.Remove(text, r); err != nil {
				return old, nil, err
			}
			changes = append(c, changes...)
		}
		return text, changes, nil
	})
}

// pruned says why --write leaves a line; "" for one that it takes out.
func (e *editing) pruned(r policy.Rule) string {
	switch {
	case absolute(e.w.cwd, r.Origin.File) != e.path:
		return ", included: stays"
	case r.Op == policy.OpEnv:
		return ", as far as Python tells: stays"
	}
	return ""
}

// tellRuns says what the answer rests on.
func (e *editing) tellRuns(records []string, runs []*learn.Run, unused int) {
	for i, run := range runs {
		end := run.Ending()
		switch {
		case end.Partial != "":
			e.w.ui.say("%s: partial run: %s: what it would have used after that counts as unused", plainText(records[i]), end.Partial)
		case end.Reason == "exit" && end.Status != 0:
			e.w.ui.say("%s: the program ended with status %d: what it would have used after that counts as unused", plainText(records[i]), end.Status)
		}
	}
	e.w.ui.say("%s unused in %s%s", counted(unused, "rule"), counted(len(runs), "run"), recordedBetween(e.w, records))
}

// recordedBetween words the days on which records were written.
func recordedBetween(w *world, records []string) string {
	var days []string
	for _, name := range records {
		if fi, err := os.Stat(absolute(w.cwd, name)); err == nil {
			days = append(days, fi.ModTime().Format("2006-01-02"))
		}
	}
	if len(days) == 0 {
		return ""
	}
	first, last := slices.Min(days), slices.Max(days)
	if first == last {
		return ", recorded " + first
	}
	return fmt.Sprintf(", recorded %s to %s", first, last)
}
