package pythonshim

import (
	"slices"
	"strings"
	"testing"
)

func TestParseNote(t *testing.T) {
	for _, c := range []struct {
		line string
		want Note
		ok   bool
	}{
		{`{"e":"open","a":["data/s.csv"],"f":"report.build","l":"pandas","at":"/p/report.py:12"}` + "\n", Note{"open", []string{"data/s.csv"}, "/p/report.py:12", "report.build", "pandas"}, true},
		{`{"e":"env","a":["HOME","set"]}` + "\n", Note{"env", []string{"HOME", "set"}, "", "", ""}, true},
		{`{"e":"env","a":["\u00dc","unset"]}` + "\n", Note{"env", []string{"Ü", "unset"}, "", "", ""}, true},
		{`{"e":"env","a":["HOME","set"]}`, Note{}, false},                                   // no newline: cut short
		{`{"e":"env","a":["A","set"]}` + "\n{}\n", Note{}, false},                           // two lines
		{`{"e":"env","a":["A","set"]} {}` + "\n", Note{}, false},                            // a tail
		{`{"e":"env","a":["A","set"]} ` + "\n", Note{}, false},                              // even of blanks
		{`{"e":"env","a":["A=b","set"]}` + "\n", Note{}, false},                             // a value
		{`{"e":"env","a":["","set"]}` + "\n", Note{}, false},                                //
		{`{"e":"env","a":["A","secret"]}` + "\n", Note{}, false},                            //
		{`{"e":"env","a":["A\u001b[2J","set"]}` + "\n", Note{}, false},                      // terminal control
		{`{"e":"env","a":["A\u202e","set"]}` + "\n", Note{}, false},                         // text direction
		{`{"e":"open","a":["\udc80"]}` + "\n", Note{}, false},                               // not UTF-8 on disk
		{`{"e":"open","a":["a"],"at":"x\u000a:1"}` + "\n", Note{}, false},                   //
		{`{"e":"open","a":["a"],"v":"x"}` + "\n", Note{}, false},                            // unknown key
		{`{"e":"open","a":"a"}` + "\n", Note{}, false},                                      // type
		{`{"e":"open","a":[]}` + "\n", Note{}, false},                                       //
		{`{"e":"open","a":["a","b"]}` + "\n", Note{}, false},                                //
		{`{"e":"shutdown","a":["a"]}` + "\n", Note{}, false},                                // unknown event
		{`[]` + "\n", Note{}, false},                                                        //
		{"\n", Note{}, false},                                                               //
		{"", Note{}, false},                                                                 //
		{`{"e":"open","a":["` + strings.Repeat("x", MaxNote) + `"]}` + "\n", Note{}, false}, //
	} {
		got, err := ParseNote([]byte(c.line))
		if (err == nil) != c.ok {
			t.Errorf("%.60q: error %v", c.line, err)
			continue
		}
		if got.Event != c.want.Event || !slices.Equal(got.Args, c.want.Args) || got.At != c.want.At || got.Func != c.want.Func || got.Library != c.want.Library {
			t.Errorf("%.60q: %+v, want %+v", c.line, got, c.want)
		}
	}
}

func TestNotePlaceAndReason(t *testing.T) {
	for _, c := range []struct {
		n            Note
		file, reason string
		line         int
	}{
		{Note{At: "/p/a.py:12", Func: "a.f", Library: "lib"}, "/p/a.py", "a.f, lib", 12},
		{Note{At: "/p/a.py", Func: "a"}, "/p/a.py", "a", 0},
		{Note{At: "/p/a:b.py:x", Library: "lib"}, "/p/a:b.py:x", "lib", 0},
		{Note{Func: "pip", Library: "pip"}, "", "pip", 0},
		{Note{At: "x:-3"}, "x:-3", "", 0},
	} {
		if c.n.File() != c.file || c.n.Line() != c.line || c.n.Reason() != c.reason {
			t.Errorf("%+v: %q %d %q", c.n, c.n.File(), c.n.Line(), c.n.Reason())
		}
	}
}

func FuzzParseNote(f *testing.F) {
	f.Add([]byte(`{"e":"open","a":["x"],"f":"a.b","l":"c","at":"d:1"}` + "\n"))
	f.Add([]byte(`{"e":"env","a":["HOME","set"]}` + "\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		n, err := ParseNote(b)
		if err != nil {
			return
		}
		if len(b) > MaxNote || len(n.Args) == 0 || len(n.Args) > 4 {
			t.Errorf("accepted %q", b)
		}
		for _, s := range append([]string{n.At, n.Func, n.Library}, n.Args...) {
			if strings.ContainsAny(s, "\n\r\x1b\x00") {
				t.Errorf("accepted control characters in %q", b)
			}
		}
		if n.Event == NoteEnv && strings.Contains(n.Args[0], "=") {
			t.Errorf("accepted a value in %q", b)
		}
		n.Line()
	})
}

func TestOverlayKeepsTheOriginal(t *testing.T) {
	for _, mode := range []Mode{Learn, Enforce} {
		got := string(Overlay([]byte("import codecs"), mode))
		if !strings.HasPrefix(got, "import codecs\ndef _psb():\n import sys\n FD = -5264194\n") || !strings.HasSuffix(got, "\ndel _psb\n") {
			t.Errorf("%v: %.80q … %q", mode, got, got[len(got)-20:])
		}
		if strings.Contains(got, "psb: cut") || strings.Contains(got, "from common") {
			t.Errorf("%v: a line for readers is left", mode)
		}
		if len(got) > 96<<10 {
			t.Errorf("%v: %d bytes", mode, len(got))
		}
	}
	for name, b := range Files(Learn, Rules{}, "/nowhere") {
		if name == RulesName {
			continue
		}
		if name != "sitecustomize.py" || len(b) == 0 {
			t.Errorf("file %q of %d bytes", name, len(b))
		}
	}
}

func TestVerifyPyc(t *testing.T) {
	own := []byte("\xa7\r\r\n\x00\x00\x00\x00timesize")
	good := "\xa7\r\r\n\x01\x00\x00\x00hashhash\xe3code"
	for _, c := range []struct{ out, fails string }{
		{good, ""},
		{"", "0 bytes: not the bytecode of the overlay"},
		{"\xa8" + good[1:], "another interpreter's magic number: not the bytecode of the overlay"},
		{good[:4] + "\x03" + good[5:], "flags say it is not hash-based and unchecked: not the bytecode of the overlay"},
		{good[:16] + "i" + good[17:], "no code object: not the bytecode of the overlay"},
		{good[:8] + strings.Repeat("\x00", 8) + good[16:], "no source hash: not the bytecode of the overlay"},
	} {
		if got := errText(VerifyPyc([]byte(c.out), own)); got != c.fails {
			t.Errorf("%q: %q, want %q", c.out, got, c.fails)
		}
	}
}
