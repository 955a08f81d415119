package integration

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
)

// What a stranger's program does to a report: names with markup, quotes, control characters and bytes that are no UTF-8, as far as they get
// there; words of the command line get there as they are.
const hostileReport = `import os, socket
for name in (b"]]>&\"'<x>.csv", b"a\x1b[2J\x01.csv", b"caf\xe9.csv", "é\u202e.csv".encode(), b"[l](http://e).csv"):
    pid = os.fork()
    if pid == 0:
        open(name, "w")
    os.waitpid(pid, 0)
for host in ("a.example.com", "b_c.example.com"):
    try:
        socket.getaddrinfo(host, 443)
    except OSError:
        pass
os.environ.get("RATES_KEY")
`

// TestReportsAreReadByOthers: what a hostile program is refused makes reports that other programs read: a library for SARIF finds each result
// with its place, and one for JUnit counts what psb says it wrote. (That they are valid by the schema package report tests.)
func TestReportsAreReadByOthers(t *testing.T) {
	if controlOnly() {
		t.Skip("needs psb")
	}
	for _, who := range people() {
		t.Run(who.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, who)
			s.put(t, "home/code/project/hostile.py", hostileReport)
			s.put(t, "home/code/project/.py-sandboxes", kernelPolicy+"[files]\n\"./\" = \"list\"\n")
			s.give(t)
			r := s.run(t, call{argv: []string{psb(t), "--policy", ".py-sandboxes", "--report", "r.sarif", "--report", "r.xml", "hostile.py", "a\x1b[2J\x01\xff\u202e"}, env: []string{"RATES_KEY=hunter2"}})
			if r.code != 0 || strings.Count(r.err, "psb: denied: ") < 4 {
				t.Fatal(r)
			}
			log, err := sarif.Open(s.project + "/r.sarif")
			must(t, err)
			if n := len(log.Runs[0].Results); n < 4 {
				t.Errorf("%d results", n)
			}
			for _, x := range log.Runs[0].Results {
				if len(x.Locations) != 1 || x.PartialFingerprints["psbFinding/v1"] == "" {
					t.Errorf("%s: %d places, fingerprints %v", *x.RuleID, len(x.Locations), x.PartialFingerprints)
				}
			}
			b, err := os.ReadFile(s.project + "/r.xml")
			must(t, err)
			if strings.Contains(string(b), "hunter2") || strings.ContainsAny(string(b), "\x01\x1b\ufffd") {
				t.Errorf("the report holds a value, or a character of the program's that nobody escaped\n%s", b)
			}
			const count = `import sys
from junitparser import JUnitXml
for suite in JUnitXml.fromfile(sys.argv[1]):
    cases = list(suite)
    kinds = [type(x).__name__ for c in cases for x in c.result]
    assert (len(cases), kinds.count("Failure"), kinds.count("Error"), kinds.count("Skipped")) == (suite.tests, suite.failures, suite.errors, suite.skipped), kinds
    print(suite.name, suite.failures, cases[0].name, len(cases[0].result))
`
			ledger.Need(t, "junitparser", exec.Command("/usr/bin/python3", "-c", "import junitparser").Run())
			out, err := exec.Command("/usr/bin/python3", "-c", count, s.project+"/r.xml").CombinedOutput()
			if want := "psb " + strconv.Itoa(len(log.Runs[0].Results)) + " run hostile.py 0\n"; err != nil || string(out) != want {
				t.Errorf("%v: %q, want %q\n%s", err, out, want, b)
			}
		})
	}
}
