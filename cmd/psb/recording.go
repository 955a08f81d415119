package main

import (
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"

	"psb/learn"
	"psb/policy"
)

// recording is --record FILE while a run goes on. The events go to a file beside FILE that has no name, so that nobody else can write it, and
// take FILE's place once the run is over.
type recording struct {
	file  string
	in    folderID
	spool *os.File
	tell  func(learn.Event)
	close func() error
}

// startRecording opens the record before anything runs; nil where none is asked for.
func (j *job) startRecording() (*recording, error) {
	if j.opts.record == "" {
		return nil, nil
	}
	file := absolute(j.w.cwd, j.opts.record)
	if file == j.where.policy || file == j.beside {
		return nil, refuse("psb --record FILE …", "record %s: it is the policy", plainText(j.opts.record))
	}
	err := writable(file)
	if err != nil {
		return nil, refuse("psb --record FILE …", "record %s: %s", plainText(j.opts.record), err)
	}
	r := &recording{file: file, in: lookAtFolder(filepath.Dir(file))}
	if r.spool, err = os.CreateTemp(filepath.Dir(file), ".psb-record-*"); err == nil {
		err = os.Remove(r.spool.Name())
	}
	if err != nil {
		return nil, refuse("psb --record FILE …", "record %s: %s", plainText(j.opts.record), unwrapPath(err))
	}
	r.tell, r.close = learn.Record(r.spool)
	return r, nil
}

// introduce tells what generalising needs to know, and what the run was.
func (r *recording) introduce(j *job, known learn.Knowledge) {
	for _, k := range known.Facts() {
		r.tell(k)
	}
	r.tell(learn.Known{Word: "policy", List: []string{j.where.policy}})
	if j.beside == "" {
		r.tell(learn.Known{Word: "about", List: []string{j.about()}})
	} else {
		suite := *j
		suite.where.policy, suite.beside = j.beside, j.where.policy
		r.tell(learn.Known{Word: learn.RunnerWord, List: []string{j.beside, j.about(), suite.includes()}})
	}
	var allowed []string
	for _, rule := range j.policy.Rules {
		if rule.Origin.From != "command line" {
			continue
		}
		if object := rule.Pattern.Object; rule.Pattern.Tree && path.IsAbs(object) && object != "/" {
			rule.Pattern.Text = object + "/"
		} else {
			rule.Pattern.Text = object
		}
		allowed = append(allowed, rule.String())
	}
	if len(allowed) > 0 {
		r.tell(learn.Known{Word: "allow", List: allowed})
	}
}

// put ends the record and puts it in its place, whole or not at all.
func (r *recording) put(end learn.Ended) error {
	defer r.spool.Close()
	r.tell(end)
	if err := r.close(); err != nil {
		return err
	}
	if !r.in.same() {
		return fmt.Errorf("its folder is another one than before the run; nothing is written")
	}
	if _, err := r.spool.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return policy.Replace(filepath.Dir(r.file), filepath.Base(r.file), 0o600, func(f *os.File) error {
		_, err := io.Copy(f, r.spool)
		return err
	})
}

// record puts the record of a run in its place and says why where that fails: the run itself is over.
func (j *job) record(r *recording, end learn.Ended) {
	if r == nil {
		return
	}
	if err := r.put(end); err != nil {
		j.lost = fmt.Errorf("record %s: %w", plainText(j.opts.record), unwrapPath(err))
		j.w.ui.say("%v", j.lost)
	}
}
