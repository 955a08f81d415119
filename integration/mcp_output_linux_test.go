package integration

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// streamed runs code whose output comes while it runs, as progress; what was told of it, and its result.
func (a *agent) streamed(token, code string) ([]progressTold, ran) {
	a.t.Helper()
	_, ch := a.begin("tools/call", map[string]any{"name": "run_python", "arguments": map[string]any{"code": code},
		"_meta": map[string]any{"progressToken": token, "psb/stream": true}})
	r := a.result(a.take(ch))
	a.python("0").want(a.t, "ok") // what came later than the answer would be there by now
	a.mu.Lock()
	defer a.mu.Unlock()
	var told []progressTold
	for _, p := range a.told {
		if p.ProgressToken == token {
			told = append(told, p)
		}
	}
	return told, r
}

// TestMCPOutputAsItComes: what is told while code runs grows with each notification, is all that was printed, in order, none of it twice, and comes before
// the one answer, which is a success or a failure.
func TestMCPOutputAsItComes(t *testing.T) {
	besideOthers(t)
	s := newScene(t, people()[0])
	a := s.agent(t)
	for _, c := range []struct{ end, status, exit string }{{"6 * 7", "ok", "0"}, {"1 / 0", "error", "1"}, {"raise SystemExit(7)", "error", "7"}} {
		told, r := a.streamed("of "+c.end, "import sys, time\nfor i in range(4):\n  print('out', i, flush=True); print('err', i, file=sys.stderr, flush=True); time.sleep(0.15)\n"+c.end)
		r.want(t, c.status, "[psb] "+c.status+": exit "+c.exit+",")
		if n := strings.Count(r.text(), "[psb] ok:") + strings.Count(r.text(), "[psb] error:"); n != 1 || r.code() != c.exit {
			t.Errorf("%d ends, status %s\n%s", n, r.code(), r.text())
		}
		got, last := map[string]string{}, -1.0
		for _, p := range told {
			if p.Progress <= last {
				t.Errorf("progress %v after %v", p.Progress, last)
			}
			last = p.Progress
			for _, o := range p.Meta.Output {
				if got[o.Stream] += string(o.Base64); o.Lost > 0 {
					t.Errorf("%d bytes were lost", o.Lost)
				}
			}
		}
		if len(told) < 3 || got["stdout"] != r.part("stdout") || got["stderr"] != "err 0\nerr 1\nerr 2\nerr 3\n" || got["stdout"] != "out 0\nout 1\nout 2\nout 3\n" {
			t.Errorf("%d notifications, %q\n%s", len(told), got, r.text())
		}
	}
}

var nextCursor = regexp.MustCompile(`: (\w+); next cursor (\d+)$`)

// logs gives a task's output from a byte on, the next byte, and whether the task is over.
func (a *agent) logs(task string, cursor int) (text string, next int, over bool) {
	a.t.Helper()
	r := a.tool("task", map[string]any{"action": "logs", "task": task, "cursor": cursor})
	m := nextCursor.FindStringSubmatch(r.text())
	if m == nil || len(r.Content) != 2 {
		a.t.Fatalf("%s", r.text())
	}
	next, err := strconv.Atoi(m[2])
	must(a.t, err)
	return r.Content[0].Text, next, m[1] != "working"
}

// TestMCPTaskLogsWhole: a run in the background is answered before it has ended, and its log, read from cursor to cursor, is what it printed to the byte:
// no line end and no character is told in halves, though they were written so.
func TestMCPTaskLogsWhole(t *testing.T) {
	besideOthers(t)
	s := newScene(t, people()[0])
	a := s.agent(t)
	r := a.python(`import sys
def w(b): sys.stdout.buffer.write(b); sys.stdout.buffer.flush()
w(b'a\r'); input()
w(b'\nb\xc3'); input()
w(b'\xa9\n\n\n' + b'x' * 70_000 + b'\r\n' + '\U0001f600'.encode()[:3]); input()
w('\U0001f600'.encode()[3:] + b'end\r\nand no line end')
'never told here'`, "background", true)
	if r.Meta.Result.Status != "working" || r.Meta.Result.Exit.Code != nil || r.Meta.Result.Task == "" {
		t.Fatalf("%+v", r.Meta.Result)
	}
	id := r.Meta.Result.Task
	all, cursor := "", 0
	for _, until_ := range []string{"a", "a\r\nb", "a\r\nbé\n\n\n" + strings.Repeat("x", 70_000) + "\r\n"} {
		until(t, fmt.Sprintf("%d bytes are told", len(until_)), func() bool {
			text, next, _ := a.logs(id, cursor)
			if next-cursor != len(text) {
				t.Fatalf("%d bytes from %d to %d: %.40q", len(text), cursor, next, text)
			}
			all, cursor = all+text, next
			return len(all) >= len(until_)
		})
		if all != until_ {
			t.Fatalf("%.60q, want %.60q", all, until_)
		}
		if again, _, _ := a.logs(id, 0); !strings.HasPrefix(until_, again) || again == "" {
			t.Errorf("from the beginning %.60q", again)
		}
		a.tool("task", map[string]any{"action": "send", "task": id, "text": "\n"}).says(t, false, "sent 1 bytes")
	}
	for over := false; !over; {
		var text string
		text, cursor, over = a.logs(id, cursor)
		all += text
	}
	if want := "a\r\nbé\n\n\n" + strings.Repeat("x", 70_000) + "\r\n\U0001f600end\r\nand no line end"; all != want || cursor != len(want) {
		t.Errorf("%d of %d bytes, cursor %d: …%.80q", len(all), len(want), cursor, all[max(0, len(all)-40):])
	}
	if text, next, _ := a.logs(id, cursor); text != "" || next != cursor {
		t.Errorf("after its end %q, cursor %d", text, next)
	}
	a.tool("task", map[string]any{"action": "wait", "task": id}).want(t, "ok", "'never told here'")
	a.tool("task", map[string]any{"action": "cancel", "task": id}).want(t, "refused", "is over already")

	// The same lines in a result, and from a file in pieces; a carriage return by itself would let a terminal write over what it shows.
	lines := "a\r\nb\n\n\n" + strings.Repeat("x", 70_000) + "\r\nend"
	if r := a.python(fmt.Sprintf("import sys; _ = sys.stdout.buffer.write(%q.encode() + b'x' * 70_000 + b'\\r\\nend')", "a\r\nb\n\n\n"), "max_output_bytes", 200_000); r.part("stdout") != lines+"\n" && r.part("stdout") != lines {
		t.Errorf("%.60q", r.part("stdout"))
	}
	a.inside("w", "1")
	a.file("file_write", "lines", "content", lines).says(t, false, "wrote")
	if one, two := a.file("file_read", "lines", "limit", 69_000), a.file("file_read", "lines", "offset", 69_000); one.Content[0].Text+two.Content[0].Text != lines {
		t.Errorf("%.60q and %.60q", one.Content[0].Text, two.Content[0].Text)
	}
	if r := a.python("print('over\\rwritten')"); r.part("stdout") != "over\\x0dwritten\n" {
		t.Errorf("%q", r.part("stdout"))
	}
}
