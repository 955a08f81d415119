package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"psb/policy"
	"psb/pythonshim"
)

// pythonJob is a job under a policy of these lines.
func pythonJob(t *testing.T, lines string) *job {
	t.Helper()
	j, _ := projectJob(t, "")
	p, err := policy.Parse(policyName, []byte("version = 1\n"+lines))
	if err != nil {
		t.Fatal(err)
	}
	if j.policy, err = p.Expand(j.macros); err != nil {
		t.Fatal(err)
	}
	return j
}

// spoken is what psb tells of a run in which the shim said these notes.
func spoken(t *testing.T, j *job, notes ...pythonshim.Note) string {
	t.Helper()
	var r refused
	for _, n := range notes {
		r.note(n)
	}
	out, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	tell(voice{out}, j.w.cwd, r.denials(j))
	b, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(bytes.ReplaceAll(b, []byte("psb: "), nil))
}

func refusedNote(j *job, op, object, at string) pythonshim.Note {
	return pythonshim.Note{Event: pythonshim.NoteDenied, Args: []string{op, object}, At: j.w.cwd + "/" + at}
}

func TestDenialsInsidePython(t *testing.T) {
	for _, tc := range []struct{ lines, op, object, want string }{
		{"", "import", "flask", "denied: import flask (app.py:3)\nhint: psb policy add import flask\n"},
		{"", "import", "google.protobuf", "denied: import google.protobuf (app.py:3)\nhint: psb policy add import google.protobuf\n"},
		{"", "import", "auth.token", "denied: import auth.token (app.py:3)\nhint: psb policy add import auth.token\n"}, // a name, no secret
		{"", "call", "subprocess.Popen", "denied: call subprocess.Popen (app.py:3)\nhint: psb policy add call subprocess.Popen\n" +
			"hint: or all of process-exec (starts other programs or copies of this one): psb policy add call process-exec\n"},
		{"[python.import]\n\"ctypes\" = false\n\"*\" = true\n", "import", "ctypes", "denied: import ctypes (app.py:3)\nhint: .py-sandboxes:3 refuses it (\"ctypes\")\n"},
		{"[python.call]\n\"os.kill\" = false\n", "call", "os.kill", "denied: call os.kill (app.py:3)\nhint: .py-sandboxes:3 refuses it (\"os.kill\")\n"},
		{"locked = true\n", "import", "flask", "denied: import flask (app.py:3)\nhint: .py-sandboxes is locked\n"},
		{"", "eval", "call:len", "denied: eval call:len (app.py:3)\nhint: psb policy add eval call:len\n"},
		{"[python.eval.calc]\nsyntax = [\"arith\"]\n", "eval", "calc/call:len", "denied: eval calc/call:len (app.py:3)\nhint: psb policy add eval calc/call:len\n"},
		{"[python.eval]\ncall = [\"!len\"]\n", "eval", "call:len", "denied: eval call:len (app.py:3)\nhint: .py-sandboxes:3 refuses it (\"call:len\")\n"},
		{"[python.call]\n\"process-exec\" = false\n", "call", "os.system", "denied: call os.system (app.py:3)\nhint: .py-sandboxes:3 refuses it (\"process-exec\")\n"},
		// what the policy allows is never blamed on it
		{"[python.eval]\ncall = [\"len\"]\n", "eval", "call:len", ""},
		{"[python.call]\n\"process-exec\" = true\n", "call", "os.system", ""},
		{"[python.call]\n\"*\" = true\n", "call", "os.system", ""},
		{"[python.import]\n\"flask\" = true\n", "import", "flask.views", ""},
		{"[python.import]\n\"*\" = true\n", "import", "flask", ""},
		{"[python.call]\n\"os.kill\" = true\n", "call", "os.kill", ""},
		// what is no refusal inside Python, or no name
		{"", "read", "/etc/shadow", ""},
		{"", "connect", "pypi.org:443", ""},
		{"", "import", "no name", ""},
		{"", "import", "", ""},
		{"", "call", "a b", ""},
		{"", "", "", ""},
	} {
		j := pythonJob(t, tc.lines)
		if got := spoken(t, j, refusedNote(j, tc.op, tc.object, "app.py:3")); got != tc.want {
			t.Errorf("%q %s %s:\n got %q\nwant %q", tc.lines, tc.op, tc.object, got, tc.want)
		}
	}
}

func TestAnImportThatPsbRefusedIsToldOnce(t *testing.T) {
	j := pythonJob(t, "")
	uncaught := func(class, name, file string) pythonshim.Note {
		return pythonshim.Note{Event: pythonshim.NoteError, Args: []string{class, "import", name, file}, At: j.w.cwd + "/app.py:3"}
	}
	want := "denied: import flask (app.py:3)\nhint: psb policy add import flask\n"
	if got := spoken(t, j, refusedNote(j, "import", "flask", "app.py:3"), uncaught("RuleModuleNotFoundError", "flask", ""), uncaught("ModuleNotFoundError", "flask", "")); got != want {
		t.Errorf("%q", got)
	}
	// and one that is nobody's refusal is not told at all
	if got := spoken(t, j, uncaught("ModuleNotFoundError", "flask", "")); got != "" {
		t.Errorf("%q", got)
	}
}

func TestRefusalsInsidePythonFoldAndLeaveRoomForOthers(t *testing.T) {
	j := pythonJob(t, "")
	var notes []pythonshim.Note
	for range 3 {
		notes = append(notes, refusedNote(j, "import", "flask", "app.py:3"))
	}
	if got := spoken(t, j, notes...); !strings.HasPrefix(got, "denied: import flask (app.py:3, 3 times)\n") {
		t.Errorf("%q", got)
	}
	var r refused
	for i := range 5000 {
		r.note(refusedNote(j, "import", fmt.Sprintf("m%d", i), "app.py:3"))
	}
	r.note(refusedNote(j, "call", "os.kill", "app.py:4"))
	found := r.denials(j)
	if last := found.list[len(found.list)-1]; last.Object != "os.kill" || last.Source != "reported" || len(found.list) != 1001 || !found.more.AtLeast {
		t.Errorf("%d denials, the last %+v, more %+v", len(found.list), last, found.more)
	}
}

func TestWhereThePolicyAnswersForPython(t *testing.T) {
	for object, want := range map[string]string{"import flask": "[python.import]", "call os.kill": "[python.call]", "eval call:len": "[python.eval]", "eval calc/call:len": "[python.eval.calc]"} {
		op, name, _ := strings.Cut(object, " ")
		if got := tableOf(policy.Access{Op: policy.Op(op), Object: name}); got != want {
			t.Errorf("%s: %s, want %s", object, got, want)
		}
	}
}
