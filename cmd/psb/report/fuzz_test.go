package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"io"
	"testing"
)

// FuzzRender: whatever a program is called, asks for or says, each form stays one that its readers can parse, has as many findings as it has to,
// and holds nothing that a terminal would act on.
func FuzzRender(f *testing.F) {
	f.Add("read", "/p/data/x.csv", "/p/app.py:3", "psb policy add read data/x.csv", "app.py", "exit")
	f.Add("connect", "unix:/\x00\xff", "\u202e:0", "](http://x)", "-m", "")
	f.Add("", "]]>&\"'<x>\ufffe\x0b", "::::", "\x1b]0;x\a", "-c", "wall")
	f.Fuzz(func(t *testing.T, op, object, where, hint, word, reason string) {
		r := &Report{Run: Run{Argv: []string{"python3", word}, Folder: "/p", Root: "/p", Policy: "/p/.py-sandboxes"}, End: End{Reason: reason, Error: hint}}
		r.Denials = []Denial{{Op: op, Object: object, Where: where, Hint: hint, Count: 2, Source: "reported", File: object, Line: -1}}
		r.Learned = []Grant{{Op: op, Text: object, Tier: "warn", Alert: hint, Why: where}}
		r.Planted = []string{object}
		for _, format := range formats {
			b, err := format.Render(r)
			if err != nil {
				t.Fatalf("%s: %v", format.Suffix, err)
			}
			harmless(t, format.Suffix, b)
			switch format.Suffix {
			case ".jsonl":
				for line := range bytes.Lines(b) {
					if !json.Valid(line) || len(line) > MaxLine {
						t.Errorf("a line is no JSON or too long: %q", line)
					}
				}
			case ".xml":
				d, cases := xml.NewDecoder(bytes.NewReader(b)), 0
				for {
					token, err := d.Token()
					if err == io.EOF {
						break
					}
					if err != nil {
						t.Fatalf("%v\n%s", err, b)
					}
					if s, ok := token.(xml.StartElement); ok && s.Name.Local == "testcase" {
						cases++
					}
				}
				if cases != 4 {
					t.Errorf("%d cases\n%s", cases, b)
				}
			default:
				if !json.Valid(b) {
					t.Errorf("%s is no JSON: %q", format.Suffix, b)
				}
			}
		}
	})
}
