package policy

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

func TestFormat(t *testing.T) {
	files, err := filepath.Glob("testdata/fmt/*.txtar")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			out, err := Format("f", []byte(toBytes.Replace(string(ar.Files[0].Data))))
			if err != nil {
				t.Fatal(err)
			}
			if *update {
				ar.Files[1].Data = []byte(golden(out))
				if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if want := string(ar.Files[1].Data); golden(out) != want {
				t.Errorf("got\n%s\nwant\n%s", golden(out), want)
			}
			if filepath.Base(file) == "learned.txtar" && !bytes.Equal(out, ar.Files[0].Data) {
				t.Errorf("what learning writes became\n%s", out)
			}
		})
	}
}

func TestFormatRefuses(t *testing.T) {
	src := []byte("[files]\n\"a\" = \"raed\"\n")
	out, err := Format("f", src)
	if err == nil || !strings.HasPrefix(err.Error(), `f:2: unknown right "raed"`) || !bytes.Equal(out, src) {
		t.Errorf("%q, %v", out, err)
	}
}

// FuzzFormat: formatting is done once, means the same, and loses no comment.
func FuzzFormat(f *testing.F) {
	for _, dir := range []string{"edit", "fmt"} {
		files, _ := filepath.Glob("testdata/" + dir + "/*.txtar")
		for _, file := range files {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add([]byte(toBytes.Replace(string(ar.Files[0].Data))))
		}
	}
	for _, s := range []string{"# a\n\n# b\n\n# c", "\n\n# a\nversion = 1\n# b\n\n# c\n[env]\n# d\n\n# e\n[files]", "[env] # \n#\nA = true #", "include = [ # a\n] # b\n# c",
		"[ python . eval . \"x\" ] # y\ncall=[ \"#\", # z\n]"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		before, err := Parse("f", src)
		if err != nil {
			return
		}
		out, err := Format("f", src)
		if err != nil {
			t.Fatalf("%q: %v", src, err)
		}
		after, err := Parse("f", out)
		if err != nil || !sameMeaning(before, after) {
			t.Fatalf("%q became %q: %v\n%q\n%q", src, out, err, sayings(before), sayings(after))
		}
		if was, is := comments(src), comments(out); !slices.Equal(was, is) {
			t.Fatalf("%q became %q: comments %q, now %q", src, out, was, is)
		}
		if again, err := Format("f", out); err != nil || !bytes.Equal(again, out) {
			t.Fatalf("%q became %q, then %q: %v", src, out, again, err)
		}
	})
}
