package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"psb/cmd/psb/report"
	"psb/policy"
)

// TestDenialsBeyondTheKeptAreCounted: 1000 of each kind are kept; what the kernel refused beyond is counted exactly, each once however often it
// is tried; of what the program only says, that there was more.
func TestDenialsBeyondTheKeptAreCounted(t *testing.T) {
	connect := func(i int) policy.Access {
		return policy.Access{Op: policy.OpConnect, Object: fmt.Sprintf("192.0.2.%d:%d", i%250+1, 1+i/250)}
	}
	for _, tc := range []struct {
		name  string
		kinds int
		add   func(r *refused, i int)
		want  string // the last line
		more  report.More
	}{
		{"all kept", 1000, func(r *refused, i int) { r.add(connect(i), "", "kernel") }, "psb: … and 980 more denials: --report FILE.json", report.More{}},
		{"one over", 1001, func(r *refused, i int) { r.add(connect(i), "", "kernel") }, "psb: … and 981 more denials: --report FILE.json", report.More{Count: 1}},
		{"many over, each thrice", 2500, func(r *refused, i int) {
			for range 3 {
				r.add(connect(i), "", "kernel")
			}
		}, "psb: … and 2480 more denials: --report FILE.json", report.More{Count: 1500}},
		{"names, each also with the search list behind it", 1500, func(r *refused, i int) {
			name := fmt.Sprintf("h%d.example.com", i)
			r.add(policy.Access{Op: policy.OpConnect, Object: name}, "", "kernel")
			r.add(policy.Access{Op: policy.OpConnect, Object: name + ".corp.example.net"}, "", "kernel")
		}, "psb: … and 1480 more denials: --report FILE.json", report.More{Count: 1000}},
		{"said only", 1200, func(r *refused, i int) {
			r.add(policy.Access{Op: "error 30", Object: fmt.Sprintf("/usr/none%d", i)}, "", "reported")
		}, "psb: … and at least 980 more denials: --report FILE.json", report.More{AtLeast: true}},
	} {
		j, dir := projectJob(t, "")
		j.plan.Brokered = true
		var r refused
		for i := range tc.kinds {
			tc.add(&r, i)
		}
		found := r.denials(j)
		var b bytes.Buffer
		tell(voice{&b}, dir, found)
		lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		if got := lines[len(lines)-1]; got != tc.want || found.more != tc.more || strings.Count(b.String(), "psb: denied: ") != mostDenials {
			t.Errorf("%s: %q and %+v, want %q and %+v", tc.name, got, found.more, tc.want, tc.more)
		}
	}
}

// TestOneAccessIsToldOnce: what comes as two errors, or as an error and from the kernel, is one line with its count.
func TestOneAccessIsToldOnce(t *testing.T) {
	j, dir := projectJob(t, "", "data")
	file := dir + "/data/x.csv"
	var r refused
	r.add(policy.Access{Op: "error 2", Object: file}, "", "reported")
	r.add(policy.Access{Op: "error 13", Object: file}, dir+"/app.py:3", "reported")
	r.add(policy.Access{Op: "error 13", Object: "data/x.csv"}, dir+"/app.py:9", "reported")
	r.add(policy.Access{Op: policy.OpRead, Object: file}, "", "kernel")
	found := r.denials(j)
	if len(found.list) != 1 {
		t.Fatalf("%d denials", len(found.list))
	}
	if d := found.list[0]; d.line(dir) != "denied: read data/x.csv (app.py:3, 3 times)" || d.Source != "kernel" || d.Hint != "psb policy add read data/x.csv" {
		t.Errorf("%s, %s, %s", d.line(dir), d.Source, d.Hint)
	}
}
