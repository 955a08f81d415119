package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"psb/policy"
)

// lastRun is what psb keeps of the last run under a policy in which something was refused: names of objects, no values, no arguments.
type lastRun struct {
	Version int          `json:"version"`
	Program string       `json:"program"`
	When    time.Time    `json:"when"`
	Status  int          `json:"status"`
	Denials []lastDenial `json:"denials"`
}

type lastDenial struct {
	Op     policy.Op `json:"op"`
	Object string    `json:"object"`
	Where  string    `json:"where,omitempty"`
	Count  int       `json:"count"`
}

const lastVersion = 1

// What is kept of one run is bounded: so many denials, and so many bytes of names, of which one may become six in JSON. readLast takes a megabyte.
const (
	mostLast     = 1000
	mostLastText = 100_000
)

// lastFile is where the record of a policy's last refused run lies: in psb's own folder, which no box can write.
func lastFile(w *world, policyPath string) string {
	sum := sha256.Sum256([]byte(policyPath))
	return filepath.Join(stateDir(w.id, w.lookup), "last", hex.EncodeToString(sum[:]))
}

// keepLast keeps the denials of a run for allow-last. What cannot be kept costs that alone.
func (j *job) keepLast(o outcome, list []*denial) {
	if len(list) == 0 || j.where.policy == "" || j.line == nil && j.opts.policy == "" && !j.where.exists {
		return
	}
	r := lastRun{Version: lastVersion, Program: j.about(), When: time.Now().UTC().Truncate(time.Second), Status: o.status}
	room := mostLastText
	for _, d := range list[:min(len(list), mostLast)] {
		a := d.lasting()
		if room -= len(a.Object) + len(d.Where); room < 0 {
			break
		}
		r.Denials = append(r.Denials, lastDenial{a.Op, a.Object, d.Where, d.Count})
	}
	b, err := json.Marshal(r)
	if err != nil {
		return
	}
	name := lastFile(j.w, j.where.policy)
	if os.MkdirAll(filepath.Dir(name), 0o700) == nil && mayWrite(len(b)) && replaceFile(name, b, 0o600) == nil {
		dropOldest(filepath.Dir(name), mostPrepared)
	}
}

// readLast gives what keepLast kept; fs.ErrNotExist where nothing was refused under that policy.
func readLast(name string) (*lastRun, error) {
	b, err := policy.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var r lastRun
	if err := json.Unmarshal(b, &r); err != nil || r.Version != lastVersion {
		return nil, fmt.Errorf("%q is not a record of this psb", name)
	}
	return &r, nil
}

func nothingRefused(err error) bool { return errors.Is(err, fs.ErrNotExist) }
