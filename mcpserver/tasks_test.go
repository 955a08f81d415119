package mcpserver

import "testing"

// TestTaskLogFrom: a piece of a log ends with a whole character and a whole line end, unless nothing can come any more.
func TestTaskLogFrom(t *testing.T) {
	for _, c := range []struct {
		log        string
		gone, at   int64
		n          int
		over       bool
		text       string
		next, lost int64
	}{
		{log: "abc", n: 10, text: "abc", next: 3}, {log: "abc", n: 2, text: "ab", next: 2}, {log: "abc", at: 9, n: 9, text: "", next: 3},
		{log: "a\xc3", n: 10, text: "a", next: 1}, {log: "\xc3", n: 10, text: "", next: 0}, {log: "\xc3", n: 10, over: true, text: "\xc3", next: 1},
		{log: "\xf0\x9f\x98", n: 10, text: "", next: 0}, {log: "\xf0\x9f\x98\x80", n: 10, text: "\U0001f600", next: 4}, {log: "aé", n: 2, text: "a", next: 1},
		{log: "\xff\xff\xff\xff\xff", n: 10, text: "\xff\xff\xff\xff\xff", next: 5},
		{log: "a\r", n: 10, text: "a", next: 1}, {log: "\r", at: 0, n: 10, text: "", next: 0}, {log: "a\r", n: 10, over: true, text: "a\r", next: 2},
		{log: "a\r\n", n: 2, text: "a", next: 1}, {log: "a\rb", n: 2, text: "a\r", next: 2}, {log: "a\r\n", n: 3, text: "a\r\n", next: 3},
		{log: "xyz", gone: 7, at: 2, n: 10, text: "xyz", next: 10, lost: 5},
	} {
		l := &taskLog{bytes: []byte(c.log), gone: c.gone}
		text, next, lost := l.from(c.at, c.n, c.over)
		if string(text) != c.text || next != c.next || lost != c.lost {
			t.Errorf("%+v: %q, next %d, lost %d", c, text, next, lost)
		}
	}
}
