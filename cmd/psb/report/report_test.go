package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

const hostile = "a\x1b[2J\u202eb\x00\xff\n](http://x) é.csv"

// samples are reports of every kind.
func samples() map[string]*Report {
	run := Run{Psb: "0.1.0", Argv: []string{"/usr/bin/python3", "app.py"}, Policy: "/p/.py-sandboxes", Folder: "/p", Root: "/p", Mode: "enforce", Provider: "namespaces", Program: "/p/app.py"}
	clean := &Report{Run: run, End: End{Reason: "exit"}}
	clean.Gaps = []Gap{{Name: "landlock.unix", Lost: "l", Needs: "n", Soft: true}}
	full := &Report{Run: run, End: End{Status: 123, Reason: "exit", Failed: true, Usage: Usage{WallSeconds: 1.5}}, Planted: []string{"/p/.git/hooks/post-commit", "/elsewhere"},
		Python: &PythonLayer{Present: true, How: "overlay", Interpreter: "/usr/bin/python3.11", Version: "3.11", Imports: 2, Eval: []string{"calc"}}, More: More{12, true},
		Denials: []Denial{
			{Op: "read", Object: "/p/data/eu 1.csv", Where: "/p/src/a b.py:12", Count: 3, Source: "reported", Rule: "read data/eu 1.csv", Hint: "psb policy add read 'data/eu 1.csv'", File: "/p/.py-sandboxes", Line: 4},
			{Op: "connect", Object: "pypi.org:443", Where: "/p/.venv/lib/python3.11/site-packages/x/y.py:3", Count: 1, Source: "kernel", File: "/p/.py-sandboxes", Line: 9},
			{Op: "read", Object: "/etc/shadow", Count: 1, Source: "kernel", Blocker: "../base/.py-sandboxes:3", File: "/base/.py-sandboxes", Line: 3},
			{Op: "write", Object: "/p/" + hostile, Where: "/p/" + hostile + ":7", Count: 1, Source: "reported"},
		},
		Gaps:   []Gap{{Name: "hide", Lost: "l", Needs: "n"}, {Name: "notify", Lost: "l", Needs: "n", Accepted: true}},
		Limits: []Limit{{Name: "memory", Text: "512M", Origin: ".py-sandboxes:6", Value: 512 << 20, Unit: "bytes", Effective: "kernel", Reached: true}, {Name: "wall", Text: "60s", Origin: "command line", Value: 60, Unit: "seconds", Effective: "psb"}},
	}
	learned := &Report{Run: run, End: End{Status: 1, Reason: "exit"}}
	learned.Mode = "learn"
	learned.Learning = Learning{Partial: "ended by killed", Left: []string{"left"}, Unset: []string{"DEBUG"},
		Learned: []Grant{{Op: "env", Object: "API_KEY", Text: "API_KEY", Tier: "warn", Alert: "a secret", Why: "app"}, {Op: "read", Object: "/p/static/", Text: "static/", Tier: "normal", Why: "flask", Seen: 2, Of: 5}},
		Never:   []Attempt{{Op: "read", Object: "/home/u/.ssh/id_rsa", Errno: "ENOENT"}, {Op: "call", Object: "bpf", Count: 2}}, Refused: []Attempt{{Op: "write", Object: "/etc/x", Errno: "EROFS"}}}
	refused := &Report{Run: Run{Psb: "0.1.0"}, End: End{Status: 125, Reason: "refused", Error: "gap hide: x\ngap notify: y"}}
	dead := &Report{Run: run, End: End{Status: 137, Signal: "killed", Reason: "memory"}, Limits: full.Limits}
	return map[string]*Report{"clean": clean, "full": full, "learned": learned, "refused": refused, "dead": dead}
}

func TestFormatOf(t *testing.T) {
	for name, want := range map[string]string{"r.json": ".json", "a/r.jsonl": ".jsonl", "r.sarif": ".sarif", "r.sarif.json": ".sarif.json", "r.xml": ".xml"} {
		if f, err := FormatOf(name); err != nil || f.Suffix != want {
			t.Errorf("%s: %q, %v", name, f.Suffix, err)
		}
	}
	for _, name := range []string{"r", "r.txt", "json", "r.JSON", ""} {
		if f, err := FormatOf(name); err == nil {
			t.Errorf("%q is taken for %s", name, f.Suffix)
		}
	}
}

// TestJSONHoldsTheWholeReport: nothing is lost on the way, no list is null, and no byte would act on a terminal.
func TestJSONHoldsTheWholeReport(t *testing.T) {
	for name, r := range samples() {
		b, err := JSON(r)
		if err != nil {
			t.Fatal(err)
		}
		var again Report
		d := json.NewDecoder(bytes.NewReader(b))
		d.DisallowUnknownFields()
		if err := d.Decode(&again); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want := *r.whole()
		want.Denials = slices.Clone(want.Denials)
		for i := range want.Denials { // a byte that is no UTF-8 is a replacement character in JSON
			want.Denials[i].Object = strings.ToValidUTF8(want.Denials[i].Object, "\ufffd")
			want.Denials[i].Where = strings.ToValidUTF8(want.Denials[i].Where, "\ufffd")
		}
		if !reflect.DeepEqual(again, want) {
			t.Errorf("%s: read again it is\n%+v\nwant\n%+v", name, again, want)
		}
		if bytes.Contains(b, []byte("null")) {
			t.Errorf("%s: a list is null\n%s", name, b)
		}
		harmless(t, name, b)
	}
}

// harmless: a report may be shown on a terminal.
func harmless(t *testing.T, name string, b []byte) {
	t.Helper()
	if !utf8.Valid(b) {
		t.Errorf("%s is no UTF-8", name)
	}
	if i := bytes.IndexFunc(b, func(r rune) bool { return r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 || r == '\u202e' }); i >= 0 {
		t.Errorf("%s holds %q", name, b[i:min(i+8, len(b))])
	}
}

// TestLinesAreTypedAndBounded: one object a line, the run first, the end last, in between as many as the report has; and no line is longer than
// MaxLine whatever a program asked for.
func TestLinesAreTypedAndBounded(t *testing.T) {
	r := samples()["full"]
	for _, o := range []string{strings.Repeat("x", 1<<20), strings.Repeat("\x01", 1<<20), strings.Repeat("é", 1<<19)} {
		r.Denials = append(r.Denials, Denial{Op: "read", Object: o, Where: o, Rule: o, Hint: o, Count: 1, Source: "reported"})
	}
	r.Argv = slices.Repeat([]string{strings.Repeat("y", 100)}, 20_000)
	b, err := Lines(r)
	if err != nil {
		t.Fatal(err)
	}
	harmless(t, "lines", b)
	count := map[string]int{}
	var order []string
	for line := range strings.Lines(string(b)) {
		if len(line) > MaxLine {
			t.Errorf("a line of %d bytes", len(line))
		}
		var v struct {
			Type   string
			Object string
			Cut    bool
			Argv   []string
		}
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("%v: %.200s", err, line)
		}
		if long := len(v.Object) > 60 || v.Type == "run"; v.Cut != long {
			t.Errorf("cut is %v for %.80s", v.Cut, line)
		}
		if v.Type == "run" && (len(v.Argv) == 0 || v.Argv[0] != strings.Repeat("y", 100)) {
			t.Errorf("of the words nothing is left: %.200s", line)
		}
		count[v.Type]++
		order = append(order, v.Type)
	}
	want := map[string]int{"run": 1, "gap": 2, "limit": 2, "denial": 7, "more_denials": 1, "planted": 2, "end": 1}
	if !reflect.DeepEqual(count, want) || order[0] != "run" || order[len(order)-1] != "end" {
		t.Errorf("%v, want %v", count, want)
	}
	if b, err = Lines(samples()["learned"]); err != nil || !bytes.Contains(b, []byte(`{"type":"not_set","name":"DEBUG"}`+"\n")) ||
		!bytes.Contains(b, []byte(`{"type":"learned","op":"env","object":"API_KEY","text":"API_KEY","tier":"warn","alert":"a secret","why":"app"}`+"\n")) {
		t.Errorf("%v\n%s", err, b)
	}
}

type readSarif struct {
	Runs []struct {
		Automation  struct{ ID string } `json:"automationDetails"`
		Invocations []struct {
			ExecutionSuccessful bool
			ExitCode            int
			Start               string                   `json:"processStartFailureMessage"`
			Notes               []struct{ Level string } `json:"toolExecutionNotifications"`
		}
		Results []struct {
			RuleID, Level       string
			Message             struct{ Text string }
			Locations           []readPlace
			RelatedLocations    []readPlace
			PartialFingerprints map[string]string
		}
	}
}

type readPlace struct {
	Physical struct {
		Artifact struct{ URI, URIBaseID string } `json:"artifactLocation"`
		Region   struct{ StartLine int }
	} `json:"physicalLocation"`
}

func (p readPlace) String() string {
	return p.Physical.Artifact.URIBaseID + p.Physical.Artifact.URI + ":" + fmt.Sprint(p.Physical.Region.StartLine)
}

func readSARIF(t *testing.T, r *Report) readSarif {
	t.Helper()
	b, err := SARIF(r)
	if err != nil {
		t.Fatal(err)
	}
	harmless(t, "sarif", b)
	var s readSarif
	if err := json.Unmarshal(b, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSARIFPlaces: a result stands at the program's line where that is among the sources, else at the policy's line, and where the policy is
// elsewhere, too, at the file a rule would stand in. Names are percent-encoded.
func TestSARIFPlaces(t *testing.T) {
	s := readSARIF(t, samples()["full"])
	var got []string
	for _, x := range s.Runs[0].Results {
		got = append(got, x.RuleID+" "+x.Level+" "+x.Locations[0].String())
	}
	want := []string{
		"denied/read error %SRCROOT%src/a%20b.py:12",
		"denied/connect error %SRCROOT%.py-sandboxes:9", // an installed library is no source
		"denied/read error %SRCROOT%.py-sandboxes:1",    // the policy of another checkout is not either
		"denied/write error %SRCROOT%./a%1B%5B2J%E2%80%AEb%00%FF%0A%5D%28http:/x%29%20%C3%A9.csv:7",
		"denied/more error %SRCROOT%.py-sandboxes:1",
		"gap/hide error %SRCROOT%.py-sandboxes:1",
		"gap/notify note %SRCROOT%.py-sandboxes:1",
		"limit/memory error %SRCROOT%.py-sandboxes:6",
		"planted error %SRCROOT%.git/hooks/post-commit:1",
		"planted error %SRCROOT%.py-sandboxes:1",
	}
	if len(got) != len(want) {
		t.Fatalf("%d results, want %d:\n%s", len(got), len(want), strings.Join(got, "\n"))
	}
	for i := range want {
		// How many characters of a path must be encoded is the encoder's choice; a space, a control character and a byte that is no UTF-8 must.
		if g := strings.NewReplacer("](", "%5D%28", ")", "%29", "[", "%5B", "(", "%28").Replace(got[i]); g != want[i] {
			t.Errorf("%s, want %s", g, want[i])
		}
	}
	if related := s.Runs[0].Results[0].RelatedLocations; len(related) != 1 || related[0].String() != "%SRCROOT%.py-sandboxes:4" {
		t.Errorf("the policy's line is not told beside the program's: %v", related)
	}
	if text := s.Runs[0].Results[3].Message.Text; strings.Contains(strings.ReplaceAll(text, `\](`, ""), "](") || !strings.Contains(text, `\u001b`) || !strings.Contains(text, `\xff`) {
		t.Errorf("a name from the program makes a link or is not escaped: %s", text)
	}
	if id := s.Runs[0].Automation.ID; id != "psb/app.py/" {
		t.Errorf("automation %s", id)
	}
}

// TestSARIFFingerprintsNameWhatWasRefused: the same after lines moved and counts changed, different for another object, another operation.
func TestSARIFFingerprintsNameWhatWasRefused(t *testing.T) {
	prints := func(list ...Denial) (out []string) {
		r := samples()["clean"]
		r.Denials = list
		for _, x := range readSARIF(t, r).Runs[0].Results {
			out = append(out, x.PartialFingerprints["psbFinding/v1"])
		}
		return out
	}
	base := Denial{Op: "read", Object: "/p/x", Where: "/p/a.py:1", Count: 1, Source: "reported"}
	moved, other, written := base, base, base
	moved.Where, moved.Count, moved.Line = "/p/b.py:99", 7, 3
	other.Object, written.Op = "/p/y", "write"
	p := prints(base, moved, other, written)
	if p[0] == "" || p[0] != p[1] || p[0] == p[2] || p[0] == p[3] || p[2] == p[3] {
		t.Errorf("fingerprints %v", p)
	}
	r := samples()["clean"] // another checkout
	r.Folder, r.Root, r.Denials = "/q", "/q", []Denial{{Op: "read", Object: "/q/x", Count: 1}}
	if q := readSARIF(t, r).Runs[0].Results[0].PartialFingerprints["psbFinding/v1"]; q != p[0] {
		t.Errorf("in another checkout it is %s, want %s", q, p[0])
	}
}

func TestSARIFInvocation(t *testing.T) {
	for name, want := range map[string]string{"clean": "true 0 1", "full": "true 123 0", "dead": "true 137 0", "refused": "false 125 1"} {
		i := readSARIF(t, samples()[name]).Runs[0].Invocations[0]
		if got := fmt.Sprint(i.ExecutionSuccessful, i.ExitCode, len(i.Notes)); got != want || (i.Start != "") != (name == "refused") {
			t.Errorf("%s: %s, %q, want %s", name, got, i.Start, want)
		}
	}
	if s := readSARIF(t, samples()["clean"]); len(s.Runs[0].Results) != 0 {
		t.Errorf("a clean run has results: %v", s.Runs[0].Results)
	}
}

// TestJUnitCounts: the run is one case, and each finding another; a clean run has one that passed.
func TestJUnitCounts(t *testing.T) {
	for name, want := range map[string]string{"clean": "2 0 0 1", "full": "11 10 0 1", "learned": "6 1 0 5", "refused": "1 0 1 0", "dead": "2 2 0 0"} {
		b, err := JUnit(samples()[name])
		if err != nil {
			t.Fatal(err)
		}
		harmless(t, name, b)
		var s junitSuites
		if err := xml.Unmarshal(b, &s); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, b)
		}
		suite := s.Suites[0]
		failed, broken, skipped := 0, 0, 0
		for _, c := range suite.Cases {
			failed, broken, skipped = failed+count(c.Failure), broken+count(c.Error), skipped+count(c.Skipped)
		}
		if got := fmt.Sprint(len(suite.Cases), failed, broken, skipped); got != want || got != fmt.Sprint(suite.Tests, suite.Failures, suite.Errors, suite.Skipped) ||
			fmt.Sprint(s.Tests, s.Failures, s.Errors) != fmt.Sprint(suite.Tests, suite.Failures, suite.Errors) || suite.Name != "psb" {
			t.Errorf("%s: %s, want %s\n%s", name, got, want, b)
		}
		d := xml.NewDecoder(bytes.NewReader(b))
		for {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
	b, err := JUnit(samples()["full"])
	if err != nil || !bytes.Contains(b, []byte(`name="denied: read data/eu 1.csv"`)) || !bytes.Contains(b, []byte(`message="denied: read data/eu 1.csv (3 times)"`)) || bytes.Contains(b, []byte("\ufffd")) {
		t.Errorf("%v\n%s", err, b)
	}
}
