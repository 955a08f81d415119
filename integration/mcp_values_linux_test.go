package integration

import (
	"encoding/json"
	"strings"
	"testing"
)

// structure is the program's part of a structured result.
type structure struct {
	Result *struct {
		Type, Repr string
		JSON       json.RawMessage
	}
	Stdout, Stderr struct {
		Text, Base64 *string
		Bytes        int64
	}
	Error *struct {
		Type, Message string
		Frames        []struct {
			File, Function, Source string
			Line                   int
		}
	}
	Variables map[string]struct{ Type, Repr, Error string }
}

// structured runs code on a server that was started with --structured, and gives the text's side and the data's of one result.
func (a *agent) structured(code string, more ...any) (ran, structure) {
	a.t.Helper()
	args := map[string]any{"code": code}
	for i := 0; i+1 < len(more); i += 2 {
		args[more[i].(string)] = more[i+1]
	}
	got := a.ask("tools/call", map[string]any{"name": "run_python", "arguments": args})
	r := a.result(got)
	var d struct {
		StructuredContent struct {
			Status  string
			Program structure
		}
	}
	must(a.t, json.Unmarshal(got.Result, &d))
	if d.StructuredContent.Status != r.Meta.Result.Status {
		a.t.Errorf("the data says %s, the facts %s", d.StructuredContent.Status, r.Meta.Result.Status)
	}
	return r, d.StructuredContent.Program
}

// TestMCPResults: what a run comes to is structure whole, each part in its place. One server answers all of it.
func TestMCPResults(t *testing.T) {
	besideOthers(t)
	a := newScene(t, people()[0]).agent(t, "--structured")
	for name, try := range map[string]func(*testing.T, *agent){"values": tryValues, "output": tryOutput, "a huge value": tryHugeValue} {
		t.Run(name, func(t *testing.T) { try(t, a) })
	}
}

// tryValues: the last expression's value comes back by its text, its type and, where it has one, the same JSON, equal in the text for a model and
// in the data; what JSON has no word for is structure in a way that is valid JSON, and exactly by its text.
func tryValues(t *testing.T, a *agent) {
	for _, c := range []struct{ code, kind, repr, json string }{
		{"1 + 1", "int", "2", "2"},
		{"x = 5; x * 2", "int", "10", "10"},
		{"'hé\\n'", "str", `'hé\n'`, `"h\u00e9\n"`},
		{"[1, 'a', None]", "list", "[1, 'a', None]", `[1, "a", null]`},
		{"{'a': {'b': [True, False, None, 1.5]}, 'c': {}}", "dict", "{'a': {'b': [True, False, None, 1.5]}, 'c': {}}", `{"a": {"b": [true, false, null, 1.5]}, "c": {}}`},
		{"3 > 2", "bool", "True", "true"},
		{"0", "int", "0", "0"},
		{"''", "str", "''", `""`},
		{"2 ** 70", "int", "1180591620717411303424", "1180591620717411303424"},
		{"-0.0", "float", "-0.0", "-0.0"},
		{"{1: 2, None: 3, (1, 2): 4}", "dict", "{1: 2, None: 3, (1, 2): 4}", `{"1": 2, "None": 3, "(1, 2)": 4}`},
		{"{1: 'a', '1': 'b'}", "dict", "{1: 'a', '1': 'b'}", ""}, // as JSON one of them would be lost
		{"(1, (2,))", "tuple", "(1, (2,))", "[1, [2]]"},
		{"{3, 1, 2}", "set", "{1, 2, 3}", "[1, 2, 3]"},
		{"{'s': frozenset({1})}", "dict", "{'s': frozenset({1})}", `{"s": [1]}`},
		{"import datetime as d\nd.date(2020, 1, 2)", "datetime.date", "datetime.date(2020, 1, 2)", `"2020-01-02"`},
		{"import datetime as d\n[d.datetime(2020, 1, 2, 3, 4, 5), d.time(6, 7)]", "list", "[datetime.datetime(2020, 1, 2, 3, 4, 5), datetime.time(6, 7)]", `["2020-01-02T03:04:05", "06:07:00"]`},
		{"d = {}; d['d'] = d; d", "dict", "{'d': {...}}", `{"d": "<cycle>"}`},
		{"l = [1]; l.append([l]); l", "list", "[1, [[...]]]", `[1, ["<cycle>"]]`},
		{"s = [1]; [s, s]", "list", "[[1], [1]]", "[[1], [1]]"}, // twice is no cycle
		{"float('nan')", "float", "nan", `"nan"`},
		{"[float('inf'), -float('inf'), {'n': float('nan')}]", "list", "[inf, -inf, {'n': nan}]", `["inf", "-inf", {"n": "nan"}]`},
		{"class P:\n  def __repr__(self): return '<my P>'\nP()", "P", "<my P>", ""},
		{"class P:\n  def __repr__(self): return '<my P>'\n[P(), 1]", "list", "[<my P>, 1]", `["<my P>", 1]`},
		{"class D(dict): pass\nD(a=1)", "D", "{'a': 1}", ""},
		{"from collections import namedtuple, OrderedDict\nOrderedDict(b=1)", "collections.OrderedDict", "", ""},
		{"b'ab'", "bytes", "b'ab'", ""},
		// Names of the code's own, and others in the place of those that libraries stand on.
		{"id = str = isinstance = hasattr = repr = type = len = dict = None\n[1, {'a': (2,)}]", "list", "[1, {'a': (2,)}]", `[1, {"a": [2]}]`},
		{"import builtins\nbuiltins.isinstance = builtins.repr = builtins.type = builtins.len = lambda *a: 'x'\n[1, {'a': (2,)}]", "list", "[1, {'a': (2,)}]", `[1, {"a": [2]}]`},
	} {
		session := []any{"session", "values"} // one box for all of them: what tells a value is the same
		if strings.Contains(c.code, "type =") || c.code == "1 + 1" {
			session = nil
		}
		r, p := a.structured(c.code, session...)
		if p.Result == nil {
			t.Errorf("%q: no value\n%s", c.code, r.text())
			continue
		}
		if c.repr == "" {
			c.repr = p.Result.Repr // it is another one in each version of Python
		}
		r.want(t, "ok")
		if v := p.Result; v.Type != c.kind || v.Repr != c.repr || !sameJSON(t, string(v.JSON), c.json) {
			t.Errorf("%q: %s %s %s", c.code, v.Type, v.Repr, v.JSON)
		}
		if first := strings.Split(r.text(), "\n[psb]")[0]; first != p.Result.Repr {
			t.Errorf("%q: the text says %q, the data %q", c.code, first, p.Result.Repr)
		}
	}
	for _, none := range []string{"None", "x = 1", "1;", "", "pass", "def f(): return 1"} {
		if r, p := a.structured(none+"\n", "session", "values"); p.Result != nil || !strings.HasPrefix(r.text(), "[psb] ok: ") {
			t.Errorf("%q: %v %s", none, p.Result, r.text())
		}
	}
}

// sameJSON compares texts of JSON but for white space; "" is none.
func sameJSON(t testing.TB, got, want string) bool {
	t.Helper()
	if got == "" || want == "" {
		return got == want
	}
	plain := func(s string) string {
		d := json.NewDecoder(strings.NewReader(s))
		d.UseNumber()
		var v any
		must(t, d.Decode(&v))
		b, err := json.Marshal(v)
		must(t, err)
		return string(b)
	}
	return plain(got) == plain(want)
}

// tryOutput: stdout and stderr come back each for itself, in whole lines, of this call alone, whether the code ends well or not; an exception
// tells its type and its line.
func tryOutput(t *testing.T, a *agent) {
	fresh, kept := []any{}, []any{"session", "output"}
	for _, c := range []struct {
		code, status, out, err, kind string
		more                         []any
	}{
		{"print('only')", "ok", "only\n", "", "", fresh},
		{"print('one')\nprint('two')\n7", "ok", "one\ntwo\n", "", "", kept},
		{"import sys\nprint('to err', file=sys.stderr)", "ok", "", "to err\n", "", kept},
		{"import sys\nprint('a', end=''); print('b', file=sys.stderr, end='')", "ok", "a", "b", "", kept},
		{"8", "ok", "", "", "", kept},
		{"print('early')\n1 / 0", "error", "early\n", "", "ZeroDivisionError", kept},
		{"print('before')\nraise ValueError('boom')", "error", "before\n", "", "ValueError", fresh},
		{"print('never')\nfor x in\n", "error", "", "", "SyntaxError", kept},
		{"print('said')\nraise SystemExit('why')", "error", "said\n", "why\n", "", kept},
		{"import builtins\nbuiltins.isinstance = builtins.repr = builtins.type = lambda *a: 'x'\n1 / 0", "error", "", "", "ZeroDivisionError", fresh},
	} {
		r, p := a.structured(c.code, c.more...)
		r.want(t, c.status)
		if p.Stdout.Text == nil || p.Stderr.Text == nil || *p.Stdout.Text != c.out || *p.Stderr.Text != c.err || r.part("stdout") != c.out || r.part("stderr") != c.err {
			t.Errorf("%q: %s", c.code, r.text())
		}
		if got := p.Error; (got == nil) != (c.kind == "") || got != nil && (got.Type != c.kind || !strings.Contains(r.text(), c.kind)) {
			t.Errorf("%q: %+v", c.code, got)
		}
	}
	r, p := a.structured("a = 1\nfor x in\n")
	if p.Error == nil || len(p.Error.Frames) != 1 || p.Error.Frames[0].Line != 2 || p.Error.Frames[0].Source != "for x in" || p.Error.Message != "invalid syntax" || p.Result != nil {
		t.Errorf("%+v", p.Error)
	}
	if r.Meta.Result.Cleanup.State != "REMOVED" {
		t.Errorf("%s", r.Meta.Result.Cleanup.State)
	}
	_, p = a.structured("def f():\n  raise KeyError('k')\n\nf()")
	if p.Error == nil || len(p.Error.Frames) != 2 || p.Error.Frames[0].Line != 4 || p.Error.Frames[1].Line != 2 || p.Error.Frames[1].Function != "f" || p.Error.Message != "'k'" {
		t.Errorf("%+v", p.Error)
	}
	// A call brings its own words alone: nothing of the one before, and nothing that only looks like its own.
	if r := a.python("9"); strings.Contains(r.text(), "boom") || strings.Contains(r.text(), "stdout") {
		t.Errorf("%s", r.text())
	}
}

// tryHugeValue: of a value that is too long a beginning is shown, the result says how much that is, and the rest can be read.
func tryHugeValue(t *testing.T, a *agent) {
	for _, c := range []struct {
		code, whole string
		more        bool
	}{{"'x' * 500000", "'" + strings.Repeat("x", 500000) + "'", false}, {"'x' * 3000000", "'" + strings.Repeat("x", 1<<20-1), true}} {
		r := a.python(c.code)
		r.want(t, "ok")
		if n := len(r.text()); n > 40000 || len(r.Meta.Result.Delivery) != 1 {
			t.Fatalf("%d bytes, %v", n, r.Meta.Result.Delivery)
		}
		d := r.Meta.Result.Delivery[0]
		more, _ := d["more"].(bool)
		rest, _ := d["rest"].(string)
		if d["field"] != "result" || d["bytes"] != float64(len(c.whole)) || d["shown"] != float64(32768) || more != c.more {
			t.Errorf("%v", d)
		}
		_, uri, _ := strings.Cut(rest, "read the resource ")
		uri, _, _ = strings.Cut(uri, ";")
		var read struct{ Contents []struct{ Text string } }
		must(t, json.Unmarshal(a.ask("resources/read", map[string]any{"uri": uri}).Result, &read))
		if len(read.Contents) != 1 || read.Contents[0].Text != c.whole {
			t.Errorf("%s: %d contents", uri, len(read.Contents))
		}
	}
}
