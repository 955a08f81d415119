package learn

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"psb/policy"
)

// recordHeader is the first line of a record.
const recordHeader = `{"psb":"events","version":1}`

// maxLine bounds one line of a record, in bytes: a note and a path, each escaped at worst sixfold, fit.
const maxLine = 64 << 10

// line is an event as it stands in a record. Which fields count depends on Event.
type line struct {
	Event  string    `json:"event"`
	TID    int       `json:"tid"`
	Op     policy.Op `json:"op,omitempty"`
	Object string    `json:"object,omitempty"` // path, name or note
	Raw    []byte    `json:"raw,omitempty"`    // instead of Object, when that is not UTF-8
	How    How       `json:"how,omitempty"`
	Errno  Errno     `json:"errno,omitempty"`
	Other  int       `json:"other,omitempty"` // Child, Old
	PID    int       `json:"pid,omitempty"`
	Target string    `json:"target,omitempty"`
	Links  []string  `json:"links,omitempty"`
}

func (l *line) put(s string) {
	if utf8.ValidString(s) {
		l.Object = s
	} else {
		l.Raw = []byte(s)
	}
}

// Record returns a function that writes each event it is given as one line of JSON, and remembers the first error of the
// writer: close gives it.
func Record(w io.Writer) (emit func(Event), close func() error) {
	out := bufio.NewWriter(w)
	_, err := out.WriteString(recordHeader + "\n")
	emit = func(e Event) {
		if err != nil {
			return
		}
		var b []byte
		if b, err = json.Marshal(encode(e)); err == nil {
			_, err = out.Write(append(b, '\n'))
		}
	}
	return emit, func() error {
		if err == nil {
			err = out.Flush()
		}
		if err != nil {
			return fmt.Errorf("record events: %w", err)
		}
		return nil
	}
}

func encode(e Event) line {
	var l line
	switch e := e.(type) {
	case Accessed:
		l = line{Event: "accessed", TID: e.TID, Op: e.Access.Op, How: e.How, Errno: e.Errno}
		if utf8.ValidString(e.Target + strings.Join(e.Links, "")) {
			l.Target, l.Links = e.Target, e.Links
		}
		l.put(e.Access.Object)
	case Noted:
		l = line{Event: "noted", TID: e.TID}
		l.put(e.Text)
	case Called:
		l = line{Event: "called", TID: e.TID}
		l.put(e.Name)
	case Refused:
		l = line{Event: "refused", TID: e.TID, Errno: e.Errno}
		l.put(e.Name)
	case Spawned:
		l = line{Event: "spawned", TID: e.TID, Other: e.Child, PID: e.PID}
	case Executed:
		l = line{Event: "executed", TID: e.TID, Other: e.Old}
		l.put(e.File)
	case Exited:
		l = line{Event: "exited", TID: e.TID}
	}
	return l
}

func decode(l line) (Event, error) {
	text := l.Object
	if l.Raw != nil {
		text = string(l.Raw)
	}
	switch l.Event {
	case "accessed":
		if l.Op == "" || text == "" {
			return nil, fmt.Errorf("accessed without op or object")
		}
		return Accessed{TID: l.TID, Access: policy.Access{Op: l.Op, Object: text}, How: l.How, Errno: l.Errno, Target: l.Target, Links: l.Links}, nil
	case "noted":
		return Noted{TID: l.TID, Text: text}, nil
	case "called":
		return Called{TID: l.TID, Name: text}, nil
	case "refused":
		return Refused{TID: l.TID, Name: text, Errno: l.Errno}, nil
	case "spawned":
		return Spawned{TID: l.TID, Child: l.Other, PID: l.PID}, nil
	case "executed":
		return Executed{TID: l.TID, Old: l.Other, File: text}, nil
	case "exited":
		return Exited{TID: l.TID}, nil
	}
	return nil, fmt.Errorf("unknown event %q", l.Event)
}

// Replay reads what Record wrote and gives each event to emit, up to the first bad line: the error names it.
func Replay(r io.Reader, emit func(Event)) error {
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, maxLine)
	n := 0
	for sc.Scan() {
		n++
		text := strings.TrimSpace(sc.Text())
		if n == 1 {
			if text != recordHeader {
				return fmt.Errorf("line 1: not a record of psb: want %s", recordHeader)
			}
			continue
		}
		if text == "" {
			continue
		}
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		e, err := decode(l)
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		emit(e)
	}
	if err := sc.Err(); err != nil {
		return fmt.Errorf("line %d: %w", n+1, err)
	}
	if n == 0 {
		return fmt.Errorf("line 1: empty: want %s", recordHeader)
	}
	return nil
}
