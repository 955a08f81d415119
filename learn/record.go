package learn

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"psb/policy"
)

// recordHeader is the first line of a record.
const recordHeader = `{"psb":"events","version":1}`

// maxLine bounds one line of a record, in bytes: the names of an access and of 40 links, each escaped at worst sixfold, fit.
const maxLine = 2 << 20

// line is an event as it stands in a record. Which fields count depends on Event.
type line struct {
	Event  string    `json:"event"`
	TID    int       `json:"tid,omitempty"`
	Op     policy.Op `json:"op,omitempty"`
	Object string    `json:"object,omitempty"` // path, name or note
	Raw    []byte    `json:"raw,omitempty"`    // instead of Object, when that is not UTF-8
	How    How       `json:"how,omitempty"`
	Errno  Errno     `json:"errno,omitempty"`
	Other  int       `json:"other,omitempty"` // Child, Old
	PID    int       `json:"pid,omitempty"`
	Asked  text      `json:"asked,omitempty"`
	Target text      `json:"target,omitempty"`
	Links  []text    `json:"links,omitempty"`
	Yes    bool      `json:"yes,omitempty"`
	List   []text    `json:"list,omitempty"`
	Status int       `json:"status,omitempty"`
	Reason string    `json:"reason,omitempty"`
	Peak   int       `json:"peak,omitempty"`
}

// text is a string of JSON, or {"raw": BASE64} when it is not UTF-8.
type text string

func (t text) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(t)) {
		return json.Marshal(string(t))
	}
	return json.Marshal(struct {
		Raw []byte `json:"raw"`
	}{[]byte(t)})
}

func (t *text) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '{' {
		var r struct {
			Raw []byte `json:"raw"`
		}
		err := json.Unmarshal(b, &r)
		*t = text(r.Raw)
		return err
	}
	var s string
	err := json.Unmarshal(b, &s)
	*t = text(s)
	return err
}

// texts changes between the two kinds of string; an empty list is nil.
func texts[A, B ~string](list []A) []B {
	var out []B
	for _, s := range list {
		out = append(out, B(s))
	}
	return out
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
		l.Target, l.Links = text(e.Target), texts[string, text](e.Links)
		if e.Asked != e.Access.Object {
			l.Asked = text(e.Asked)
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
	case Known:
		l = line{Event: "known", List: texts[string, text](e.List)}
		l.put(e.Word)
	case Answered:
		l = line{Event: "answered", Reason: e.Question, Yes: e.Yes, List: texts[string, text](e.List)}
		l.put(e.Object)
	case Ended:
		l = line{Event: "end", Reason: e.Reason, Status: e.Status, Peak: e.Peak}
		l.put(e.Partial)
	}
	return l
}

func decode(l line) (Event, error) {
	object := l.Object
	if l.Raw != nil {
		object = string(l.Raw)
	}
	switch l.Event {
	case "accessed":
		if l.Op == "" || object == "" {
			return nil, fmt.Errorf("accessed without op or object")
		}
		asked := string(l.Asked)
		if asked == object {
			asked = ""
		}
		return Accessed{TID: l.TID, Access: policy.Access{Op: l.Op, Object: object}, How: l.How, Errno: l.Errno, Asked: asked, Target: string(l.Target),
			Links: texts[text, string](l.Links)}, nil
	case "noted":
		return Noted{TID: l.TID, Text: object}, nil
	case "called":
		return Called{TID: l.TID, Name: object}, nil
	case "refused":
		return Refused{TID: l.TID, Name: object, Errno: l.Errno}, nil
	case "spawned":
		return Spawned{TID: l.TID, Child: l.Other, PID: l.PID}, nil
	case "executed":
		return Executed{TID: l.TID, Old: l.Other, File: object}, nil
	case "exited":
		return Exited{TID: l.TID}, nil
	case "known":
		if object == "" {
			return nil, fmt.Errorf("known without a word")
		}
		return Known{Word: object, List: texts[text, string](l.List)}, nil
	case "answered":
		if !slices.Contains(questions, l.Reason) {
			return nil, fmt.Errorf("unknown question %q", l.Reason)
		}
		return Answered{Question: l.Reason, Object: object, Yes: l.Yes, List: texts[text, string](l.List)}, nil
	case "end":
		return Ended{Reason: l.Reason, Status: l.Status, Partial: object, Peak: l.Peak}, nil
	}
	return nil, fmt.Errorf("unknown event %q", l.Event)
}

// Replay reads what Record wrote and gives each event to emit, up to the first bad line: the error names it. It keeps one line at a time.
func Replay(r io.Reader, emit func(Event)) error {
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, maxLine)
	n, ended := 0, 0
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
		if ended > 0 {
			return fmt.Errorf("line %d: the run ended in line %d", n, ended)
		}
		if _, last := e.(Ended); last {
			ended = n
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
