package main

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"psb/learn"
	"psb/policy"
	"psb/policy/approval"
)

// suite is the job of a test suite: the program runs under the runner's policy, which includes that of the application, j's own.
func (j *job) suite(file string) (*job, error) {
	s := *j
	s.where.policy = absolute(j.w.cwd, file)
	s.where.exists, s.where.named = present(s.where.policy), false
	s.beside, j.beside = j.where.policy, s.where.policy
	name := s.shownPolicy()
	if s.where.policy == j.where.policy {
		return nil, refuse("psb --learn-runner FILE …", "--learn-runner %s: it is the application's own policy", plainText(name))
	}
	if !j.policy.Shim || !j.layout.ShimFits() {
		return nil, refuse("psb --learn …", "--learn-runner: without the shim (Python %s) nothing tells the application from its tests", j.layout.Version)
	}
	if include := s.includes(); strconv.Quote(include) != `"`+include+`"` {
		return nil, refuse("psb --learn-runner FILE …", "--learn-runner %s: no file can include %s", plainText(name), plainText(include))
	}
	if !s.where.exists {
		if err := writable(s.where.policy); err != nil {
			return nil, refuse("psb --learn-runner FILE …", "policy %s: %s", plainText(name), err)
		}
		return &s, nil // under the application's policy
	}
	if err := s.learnable(); err != nil {
		return nil, err
	}
	if j.where.exists && !slices.ContainsFunc(s.written.Sources, func(of policy.Source) bool { return of.Path == j.where.policy }) {
		return nil, refuse(fmt.Sprintf("add it: include = [%q]", s.includes()), "%s does not include %s", plainText(name), plainText(j.shownPolicy()))
	}
	return &s, nil
}

// includes is how the runner's policy names the application's.
func (j *job) includes() string {
	rel, err := filepath.Rel(filepath.Dir(j.where.policy), j.beside)
	if err != nil {
		rel = j.beside
	}
	return strings.ReplaceAll(rel, "${", "$${")
}

// begun is the text of a policy that is not there yet. What the application of a test suite may do is no right of the runner's command line.
func (j *job) begun() []byte {
	switch {
	case j.opts.learnRun == "":
		return policy.New(j.about())
	case j.where.policy == absolute(j.w.cwd, j.opts.learnRun):
		return beginSuite(j.about(), j.includes())
	}
	return policy.New("")
}

// beginSuite is the text of a runner's policy that is not there yet.
func beginSuite(about, include string) []byte {
	return append(policy.New(about), fmt.Sprintf("include = [%q]\n", include)...)
}

// keepSuite writes the application's policy, then what beyond it the runner and the tests need.
func (j *job) keepSuite(r *recorder, found proposal, s *job, end learn.Ended) error {
	j.w.ui.say("%s, what the application asked:", plainText(j.shownPolicy()))
	found.report = &learn.Report{Added: found.missing} // the whole run is reported once
	if err := j.keep((*job).propose, r, found, learn.Ended{}); err != nil {
		return err
	}
	j.w.ui.say("%s, what the runner and the tests asked beyond that:", plainText(s.shownPolicy()))
	if err := s.reload(); err != nil {
		return err
	}
	return s.keep((*job).proposeWhole, r, s.proposeWhole(r), end)
}

// reload reads the runner's policy again, now that the application's is written. Nothing else may have changed since before the run.
func (j *job) reload() error {
	before := map[string]string{}
	for _, s := range j.written.Sources {
		before[s.Path] = string(s.Bytes)
	}
	p, err := policy.Load(func(name string) ([]byte, error) {
		if name == j.shownPolicy() && !j.where.exists {
			return j.begun(), nil
		}
		return policy.ReadFile(name)
	}, j.shownPolicy(), j.macros)
	if err != nil {
		return refuse("psb policy help", "%s", err)
	}
	for _, s := range p.Sources[1:] {
		if text, was := before[s.Path]; !j.besideApproved(s.Path, false) && (!was || text != string(s.Bytes)) {
			return refuse("read it, then psb policy approve", "planted: %s: it came or changed while the program ran; %s is not written", plainText(shown(j.w.cwd, s.Path)), plainText(j.shownPolicy()))
		}
	}
	if j.where.exists { // keep compares the file itself with what was read before the run
		p.Sources[0].Bytes = []byte(before[j.where.policy])
	}
	j.written = p
	return j.expand()
}

// counts reports whether a policy is approved as it is now: its own text, and that of each file it includes. The other policy of a suite may have
// grown since, with an approval of its own.
func (j *job) counts(state approval.State, last, now []policy.Source, held bool) bool {
	if state != approval.Changed || j.beside == "" || len(last) == 0 || len(now) == 0 || string(last[0].Bytes) != string(now[0].Bytes) {
		return state == approval.Approved
	}
	before := map[string]string{}
	for _, s := range last {
		before[s.Path] = string(s.Bytes)
	}
	return !slices.ContainsFunc(now, func(s policy.Source) bool {
		text, was := before[s.Path]
		return (!was || text != string(s.Bytes)) && !j.besideApproved(s.Path, held)
	})
}

// besideApproved reports whether a file is the other policy of this run, with a text that somebody approved: this psb, another that learns the
// same suite, or the user. Approvals are out of every box's reach. Who writes a policy approves it before the lock on its folder is let go, so
// the answer is asked for under that lock; held says that the one on j's own policy is held already.
func (j *job) besideApproved(file string, held bool) bool {
	if j.beside == "" || file != j.beside {
		return false
	}
	yes := false
	look := func() error {
		p, err := policy.Load(policy.ReadFile, file, j.macros)
		if err == nil {
			var state approval.State
			state, _, err = approval.At(j.macros.Config).Check(file, p.Sources)
			yes = err == nil && state == approval.Approved
		}
		return err
	}
	if held && filepath.Dir(file) == filepath.Dir(j.where.policy) {
		return look() == nil && yes
	}
	return policy.UpdateThen(file, func(old []byte, exists bool) ([]byte, error) {
		if !exists {
			return nil, fs.ErrNotExist
		}
		return old, nil
	}, look) == nil && yes
}

// proposeWhole is propose for everything that was seen.
func (j *job) proposeWhole(r *recorder) proposal {
	known := r.known
	known.Folder = filepath.Dir(j.where.policy)
	missing, report := learn.Propose(r.set, known, j.policy)
	return proposal{missing, report}
}
