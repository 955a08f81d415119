package learn

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"psb/policy"
)

// recorded is what a run would leave behind: facts, events, the answers that generalising asked for, the end.
func recorded(t testing.TB, events []Event, k Knowledge) (text []byte, grants []Grant, report *Report) {
	t.Helper()
	var b bytes.Buffer
	emit, done := Record(&b)
	for _, f := range k.Facts() {
		emit(f)
	}
	for _, e := range events {
		emit(e)
	}
	grants, report = Generalise(setOf(events), k.Telling(emit))
	emit(Ended{Reason: "exit"})
	if err := done(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), grants, report
}

func readRun(t testing.TB, text []byte) *Run {
	t.Helper()
	run := NewRun()
	if err := Replay(bytes.NewReader(text), run.Add); err != nil {
		t.Fatal(err)
	}
	return run
}

// A record holds all that generalising asked, so that it gives the same where nothing of the machine is left.
func TestRecordIsEnough(t *testing.T) {
	eachGolden(t, func(t *testing.T, _ string, _ *txtar.Archive, events []Event, k Knowledge) {
		text, grants, report := recorded(t, events, k)
		run := readRun(t, text)
		grantsAgain, reportAgain := Generalise(run.Set, run.Knowledge())
		if !reflect.DeepEqual(grants, grantsAgain) || !reflect.DeepEqual(report, reportAgain) {
			t.Errorf("replayed:\n%s%s\nwant\n%s%s", ruleLines(grantsAgain), reportLines(reportAgain), ruleLines(grants), reportLines(report))
		}
	})
}

// Lists longer than a line of a record come back whole.
func TestLongFacts(t *testing.T) {
	k := Knowledge{Macros: policy.Macros{Project: "/p"}, Tables: map[string]bool{}}
	var names []string
	for i := range 3000 {
		k.Always = append(k.Always, fmt.Sprintf("/%04d%s", i, strings.Repeat("\xff", 250)))
		names = append(names, fmt.Sprintf("%04d%s", i, strings.Repeat("\x01", 250)))
	}
	k.Entries = func(string) []string { return names }
	var b bytes.Buffer
	emit, done := Record(&b)
	for _, f := range k.Facts() {
		emit(f)
	}
	k.Telling(emit).Entries("/p")
	if err := done(); err != nil {
		t.Fatal(err)
	}
	got := readRun(t, b.Bytes()).Knowledge()
	if !slices.Equal(got.Always, k.Always) || !slices.Equal(got.Entries("/p"), names) || got.Entries("/q") != nil {
		t.Errorf("%d of %d paths, %d of %d names came back", len(got.Always), len(k.Always), len(got.Entries("/p")), len(names))
	}
}

// A folder that is empty and one that nobody knows are two things.
func TestEmptyEntries(t *testing.T) {
	run := NewRun()
	k := Knowledge{Entries: func(dir string) []string {
		if dir == "/empty" {
			return []string{}
		}
		return nil
	}}.Telling(run.Add)
	k.Entries("/empty")
	k.Entries("/unknown")
	if got := run.Knowledge(); got.Entries("/empty") == nil || got.Entries("/unknown") != nil {
		t.Errorf("empty %v, unknown %v", got.Entries("/empty"), got.Entries("/unknown"))
	}
}

// TestRecords replays testdata/records/*.txtar: whole records, as --record writes them, and the policy and report that must come out. A section
// "before" is a policy that was there. A bug report becomes one of these.
func TestRecords(t *testing.T) {
	files, err := filepath.Glob("testdata/records/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no records: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			run := readRun(t, section(a, "record"))
			before := section(a, "before")
			if before == nil {
				before = policy.New(run.Word("about"))
			}
			k := run.Knowledge()
			p, err := policy.Parse(filepath.Join(k.Folder, ".py-sandboxes"), before)
			if err == nil {
				p, err = p.Expand(k.Macros)
			}
			if err != nil {
				t.Fatal(err)
			}
			missing, report := Propose(run.Set, k, p)
			text, _, err := policy.Edit(before, Rules(missing))
			if err != nil {
				t.Fatal(err)
			}
			report.Ended(run.Ending())
			got := map[string]string{"policy": string(text), "report": strings.Join(report.Lines(), "\n") + "\n"}
			if *update {
				a.Files = slices.DeleteFunc(a.Files, func(f txtar.File) bool { return f.Name == "policy" || f.Name == "report" })
				for _, name := range []string{"policy", "report"} {
					a.Files = append(a.Files, txtar.File{Name: name, Data: []byte(got[name])})
				}
				if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			for name, text := range got {
				if want := string(section(a, name)); text != want {
					t.Errorf("%s: got\n%s\nwant\n%s", name, text, want)
				}
			}
		})
	}
}

// Whatever a record says of its machine: no panic, what is proposed is a policy, and what it costs is bounded by the record.
func FuzzRun(f *testing.F) {
	for _, file := range []string{"example", "failed"} {
		a, err := txtar.ParseFile("testdata/records/" + file + ".txtar")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(section(a, "record"))
	}
	for seed := range uint64(3) {
		text, _, _ := recorded(f, invent(seed), madeUp())
		f.Add(text)
		f.Add(bytes.Replace(text, []byte("\n"), []byte("\n{\"event\":\"known\",\"object\":\"runner\",\"list\":[\"/home/ann/app/suite\",\"x\",\"y\"]}\n"), 1))
	}
	f.Add([]byte(recordHeader + "\n" + `{"event":"known","object":"project","list":["p/.."]}` + "\n" + `{"event":"accessed","tid":1,"op":"write","object":"//../x/","how":"new"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		run := NewRun()
		_ = Replay(bytes.NewReader(data), run.Add)
		k := run.Knowledge()
		p, err := policy.Parse(filepath.Join("/", k.Folder, ".py-sandboxes"), nil)
		if err == nil {
			p, err = p.Expand(k.Macros)
		}
		if err != nil {
			return // folders that are none
		}
		missing, report := Propose(run.Set, k, p)
		report.Ended(run.Ending())
		_ = report.Lines()
		if _, _, err := policy.Edit(policy.New(run.Word("about")), Rules(missing)); err != nil {
			t.Fatalf("no policy: %v", err)
		}
		if run.Split != nil {
			missing, _ = run.Split.Application(k, p)
			if _, _, err := policy.Edit(nil, Rules(missing)); err != nil {
				t.Fatalf("no policy of the application: %v", err)
			}
		}
		var usage Usage
		usage.Count(p, run)
	})
}
