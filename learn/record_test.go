package learn

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"psb/policy"
)

var everyEvent = []Event{
	Spawned{TID: 0, Child: 10, PID: 10},
	Accessed{TID: 10, Access: policy.Access{Op: policy.OpRead, Object: "/x/é \"<&"}, Errno: "ENOENT"},
	Accessed{TID: 10, Access: policy.Access{Op: policy.OpWrite, Object: "/x/\xff\xfe"}, How: New},
	Noted{TID: 10, Text: "{\"e\":\"open\"}\n"},
	Noted{TID: 10, Text: "\x00\xff"},
	Called{TID: 10, Name: "uname"},
	Refused{TID: 10, Name: "ptrace", Errno: "EPERM"},
	Executed{TID: 10, Old: 12, File: "/usr/bin/cat"},
	Exited{TID: 10},
	Accessed{TID: 10, Access: policy.Access{Op: policy.OpRead, Object: "/x/a"}, Asked: "/x/\xff/../a", Target: "/y/\xfe", Links: []string{"/x", "/\xff"}},
	Known{Word: "always", List: []string{"/usr/", "/\xff"}},
	Known{Word: "bytecode"},
	Answered{Question: "entries", Object: "/x", Yes: true, List: []string{"a", "b/"}},
	Answered{Question: "exists", Object: "/y"},
	Ended{Reason: "wall", Status: 124, Partial: "ended by the limit wall", Peak: 2},
}

func record(t testing.TB, events []Event) []byte {
	t.Helper()
	var b bytes.Buffer
	emit, done := Record(&b)
	for _, e := range events {
		emit(e)
	}
	if err := done(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestRecordReplay(t *testing.T) {
	var got []Event
	if err := Replay(bytes.NewReader(record(t, everyEvent)), func(e Event) { got = append(got, e) }); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, everyEvent) {
		t.Errorf("got %+v", got)
	}
}

func TestReplayErrors(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"", "line 1: empty"},
		{"hello\n", "line 1: not a record"},
		{recordHeader + "\n{\"event\":\"exited\",\"tid\":1}\n{\n", "line 3: "},
		{recordHeader + "\n{\"event\":\"flew\",\"tid\":1}\n", "line 2: unknown event \"flew\""},
		{recordHeader + "\n{\"event\":\"accessed\",\"tid\":1}\n", "line 2: accessed without op or object"},
		{recordHeader + "\n{\"event\":\"known\"}\n", "line 2: known without a word"},
		{recordHeader + "\n{\"event\":\"answered\",\"reason\":\"why\"}\n", "line 2: unknown question \"why\""},
		{recordHeader + "\n{\"event\":\"end\"}\n\n{\"event\":\"end\"}\n", "line 4: the run ended in line 2"},
		{recordHeader + "\n" + strings.Repeat("x", maxLine+1), "line 2: "},
	} {
		err := Replay(strings.NewReader(tt.text), func(Event) {})
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%.40q: error %v, want %q", tt.text, err, tt.want)
		}
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, bytes.ErrTooLarge }

func TestRecordError(t *testing.T) {
	emit, done := Record(broken{})
	for range 1000 {
		emit(Exited{TID: 1})
	}
	if err := done(); err == nil {
		t.Error("a record that was not written is no error")
	}
}

// Whatever a record holds: no panic, the rest of the way neither, and what was read is written and read again the same.
func FuzzReplay(f *testing.F) {
	f.Add([]byte(record(f, everyEvent)))
	f.Add([]byte(recordHeader + "\n" + `{"event":"known","object":"floor","list":["/a",{"raw":"/w=="}]}` + "\n" + `{"event":"end","links":[]}`))
	f.Add([]byte(recordHeader + "\n" + `{"event":"noted","tid":1,"object":"{\"e\":\"env\",\"a\":[\"A\",\"set\"]}"}`))
	for _, pad := range []string{"", "\n"} {
		f.Add([]byte(recordHeader + "\n" + `{"event":"accessed","tid":1,"op":"connect","object":"a.b:1"}
{"event":"accessed","tid":1,"op":"private","object":"a.b:1"}
{"event":"accessed","tid":1,"op":"listen","object":"udp://0.0.0.0:53"}
{"event":"noted","tid":1,"object":"{\"e\":\"connect\",\"a\":[\"unix\",\"/x\"]}"}
{"event":"accessed","tid":1,"op":"connect","object":"unix:/x"}` + pad))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var events []Event
		_ = Replay(bytes.NewReader(data), func(e Event) { events = append(events, e) })
		var again []Event
		if err := Replay(bytes.NewReader(record(t, events)), func(e Event) { again = append(again, e) }); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(events, again) {
			t.Fatalf("%+v became %+v", events, again)
		}
		k := Knowledge{Macros: policy.Macros{Project: "/p", Home: "/h"}, Private: FixedPrivate(), Floor: []string{"/h/.ssh"},
			Tables: map[string]bool{"files": true, "env": true, "syscalls": true, "net": len(data)%2 == 0}, SetEnv: func(string) bool { return true }}
		grants, report := Generalise(setOf(events), k)
		rules := Rules(grants)
		text, _, err := policy.Edit(policy.New("x"), rules)
		if err == nil {
			_, err = policy.Parse("/p/.py-sandboxes", text)
		}
		if err != nil {
			t.Fatalf("no policy: %v\n%s", err, text)
		}
		for _, r := range rules {
			if strings.ContainsAny(r.Why, "\n\r") { // a name may have them: the file holds it quoted
				t.Fatalf("a reason of several lines: %+v", r)
			}
			if strings.HasPrefix(strings.TrimPrefix(r.Pattern.Object, "unix:"), "/h/.ssh") || r.Pattern.Object == "/" {
				t.Fatalf("never: %+v", r)
			}
		}
		_ = report.Lines()
	})
}

// A note on a folder explains what comes much later, unless there is a nearer one, and nothing elsewhere.
func TestNoteOnAFolder(t *testing.T) {
	s := NewSet()
	s.Add(Noted{TID: 1, Text: `{"e":"open","a":["data/*"],"f":"app.load"}`})
	for n := range 2 * recentNotes {
		s.Add(Noted{TID: 1, Text: `{"e":"open","a":["x` + strings.Repeat("y", n) + `"],"f":"app.other"}`})
	}
	s.Add(Noted{TID: 1, Text: `{"e":"open","a":["data/special"],"f":"app.special"}`})
	s.Add(Spawned{TID: 1, Child: 2, PID: 2})
	for object, want := range map[string]string{"/p/data/77": "app.load", "/p/data/special": "app.special", "/p/other/77": "", "/p/data/deep/77": ""} {
		for tid := range 2 {
			if got := s.because(tid+1, policy.Access{Op: policy.OpRead, Object: object}); got != want {
				t.Errorf("thread %d, %s: %q, want %q", tid+1, object, got, want)
			}
		}
	}
}
