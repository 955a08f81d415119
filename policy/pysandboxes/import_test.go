package pysandboxes

import (
	"flag"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"psb/policy"
)

var update = flag.Bool("update", false, "write the goldens anew")

var testMacros = policy.Macros{Project: "/h/ann/app", Cwd: "/h/ann/app", Home: "/h/ann", Getenv: func(string) (string, bool) { return "", false }}

// look takes what has a dot in its last name for a file, one that ends in .sh for a program, and what is called gone for nothing.
func look(p string) Kind {
	switch {
	case path.Base(p) == "gone":
		return Absent
	case strings.HasSuffix(p, ".sh"):
		return Program
	case strings.Contains(path.Base(p), "."):
		return File
	}
	return Folder
}

func TestImport(t *testing.T) {
	for _, file := range []string{"testdata/all.txtar", "testdata/python.txtar"} {
		t.Run(file, func(t *testing.T) { imported(t, file) })
	}
}

func imported(t *testing.T, file string) {
	ar, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Import("old", ar.Files[0].Data, testMacros, look)
	if err != nil {
		t.Fatal(err)
	}
	var remarks strings.Builder
	for _, r := range got.Remarks {
		remarks.WriteString(r.String() + "\n")
	}
	if *update {
		ar.Files[1].Data, ar.Files[2].Data = got.Text, []byte(remarks.String())
		if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want := string(ar.Files[1].Data); string(got.Text) != want {
		t.Errorf("got\n%s\nwant\n%s", got.Text, want)
	}
	if want := string(ar.Files[2].Data); remarks.String() != want {
		t.Errorf("got\n%s\nwant\n%s", remarks.String(), want)
	}
	holds(t, got.Text)
}

// holds checks what every import promises: the text parses, is in its one form, and can be expanded where its variables are set.
func holds(t *testing.T, text []byte) {
	t.Helper()
	p, err := policy.Parse("new", text)
	if err != nil {
		t.Fatalf("%s\n%v", text, err)
	}
	if out, err := policy.Format("new", text); err != nil || string(out) != string(text) {
		t.Fatalf("%s\nis not in its one form: %v", text, err)
	}
	m := testMacros
	m.Getenv = func(string) (string, bool) { return "value", true }
	p.Includes = nil
	if _, err := p.Expand(m); err != nil {
		t.Logf("%s\n%v", text, err)
	}
}

func TestImportNothing(t *testing.T) {
	for src, want := range map[string]string{
		"":                            "no line of it is a rule of pysandboxes",
		"# only words\n":              "no line of it is a rule of pysandboxes",
		"colour=blue\n":               "no line of it is a rule of pysandboxes",
		"[files]\n\"a\" = \"read\"\n": "it is a policy of psb already",
	} {
		got, err := Import("old", []byte(src), testMacros, look)
		if err == nil || err.Error() != want || got.Text != nil {
			t.Errorf("%q: %q, %v", src, got.Text, err)
		}
	}
}

func FuzzImport(f *testing.F) {
	for _, file := range []string{"testdata/all.txtar", "testdata/python.txtar"} {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(ar.Files[0].Data)
		for _, line := range strings.Split(string(ar.Files[0].Data), "\n") {
			f.Add([]byte(line))
		}
	}
	f.Add([]byte("python-api=DENY:*\npython-api=ALLOW:*\neval-call=DENY:x\neval-call=x"))
	f.Fuzz(func(t *testing.T, src []byte) {
		got, err := Import("old", src, testMacros, look)
		if err == nil {
			holds(t, got.Text)
		}
	})
}
