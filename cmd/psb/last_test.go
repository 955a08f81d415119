package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"psb/policy"
)

// TestLastLongNames: names as long as a program likes do not make a record that cannot be read.
func TestLastLongNames(t *testing.T) {
	state := t.TempDir()
	j := &job{w: &world{env: []string{"XDG_STATE_HOME=" + state}}, line: &runLine{}}
	j.where.script, j.where.policy, j.where.exists = "s.py", filepath.Join(state, "policy"), true
	var list []*denial
	for i := range mostLast {
		list = append(list, &denial{Access: policy.Access{Op: policy.OpRead, Object: fmt.Sprint("/", i, strings.Repeat("/\x01", 2000))}, Count: 1})
	}
	j.keepLast(outcome{}, list)
	r, err := readLast(lastFile(j.w, j.where.policy))
	if err != nil || len(r.Denials) == 0 {
		t.Errorf("%v, %+v", err, r)
	}
}
