package learn

import (
	"fmt"
	"slices"
	"testing"

	"psb/policy"
)

// say is a note: by is the file that asked, "" for the runner itself.
func say(event, arg, fn, by string) Event {
	at := ""
	if by != "" {
		at = fmt.Sprintf(`,"at":"%s:3"`, by)
	}
	return Noted{TID: 1, Text: fmt.Sprintf(`{"e":%q,"a":[%q],"f":%q%s}`, event, arg, fn, at)}
}

// python is a note of Python's layer.
func python(event, first, second, by string) Event {
	at := ""
	if by != "" {
		at = fmt.Sprintf(`,"at":"%s:3"`, by)
	}
	return Noted{TID: 1, Text: fmt.Sprintf(`{"e":%q,"a":[%q,%q],"f":"f"%s}`, event, first, second, at)}
}

const appFile, testFile = "/p/app/core.py", "/p/tests/test_core.py"

func TestSplit(t *testing.T) {
	read := func(object string) Event { return did(policy.OpRead, object, Plain) }
	for _, tt := range []struct {
		name   string
		events []Event
		app    []string
	}{
		{"code of the application asks", []Event{say("open", "data", "core.load", appFile), read("/p/data")}, []string{"read data"}},
		{"a test asks", []Event{say("open", "data", "t", testFile), read("/p/data")}, nil},
		{"the runner asks", []Event{say("open", "data", "pytest", ""), read("/p/data")}, nil},
		{"nobody says", []Event{read("/p/data")}, nil},
		{"both ask", []Event{say("open", "data", "t", testFile), read("/p/data"), say("open", "data", "core.load", appFile), read("/p/data")}, []string{"read data"}},
		{"code from elsewhere", []Event{say("open", "data", "x", "/other/x.py"), read("/p/data")}, nil},
		{"evaluated text", []Event{say("open", "data", "-c", "<string>"), read("/p/data")}, nil},
		{"what is named on the command line", []Event{say("open", "data", "run", "/p/run.py"), read("/p/data")}, nil},
		{"a relative name", []Event{say("open", "data", "core", "app/core.py"), read("/p/data")}, []string{"read data"}},
		{"a test imports the application", []Event{say("open", appFile, "import of app", testFile), read(appFile)}, []string{"read app/core.py"}},
		{"the application's folder was listed before", []Event{say("list", "/p/app", "pytest", ""), did(policy.OpList, "/p/app", Plain), say("open", appFile, "import of app", testFile), read(appFile)},
			[]string{"list app/", "read app/core.py"}},
		{"a test imports a test's helper", []Event{say("open", "/p/tests/help.py", "import of tests", testFile), read("/p/tests/help.py"), say("open", "data", "help.x", "/p/tests/help.py"), read("/p/data")}, nil},
		{"a test of another name", []Event{say("open", "/p/check_core.py", "pytest", ""), read("/p/check_core.py"), say("open", "data", "check", "/p/check_core.py"), read("/p/data")}, nil},
		{"a test of another name, from byte code", []Event{say("open", "/p/__pycache__/check_core.cpython-311-pytest-7.2.1.pyc", "pytest", ""), say("open", "data", "check", "/p/check_core.py"), read("/p/data")}, nil},
		{"the package that the runner loads around a test", []Event{say("open", "/p/app/__init__.py", "import of app", ""), read("/p/app/__init__.py"), say("open", "data", "app", "/p/app/__init__.py"), read("/p/data")},
			[]string{"read app/__init__.py", "read data"}},
		{"source that is shown after it was loaded", []Event{say("open", appFile, "import of app", testFile), read(appFile), say("open", appFile, "pytest", ""), read(appFile), say("open", "data", "core", appFile), read("/p/data")},
			[]string{"read app/core.py", "read data"}},
		{"a program that the application starts", []Event{say("exec", "git", "core.run", appFile), Spawned{TID: 1, Child: 2, PID: 2},
			Accessed{TID: 2, Access: policy.Access{Op: policy.OpExec, Object: "/usr/bin/git"}}, Executed{TID: 2, Old: 2, File: "/usr/bin/git"},
			Accessed{TID: 2, Access: policy.Access{Op: policy.OpRead, Object: "/p/settings"}}, Spawned{TID: 2, Child: 3, PID: 3}, Accessed{TID: 3, Access: policy.Access{Op: policy.OpRead, Object: "/p/more"}}},
			[]string{"exec /usr/bin/git", "read more", "read settings"}},
		{"a program that a test starts", []Event{say("exec", "git", "t", testFile), Accessed{TID: 1, Access: policy.Access{Op: policy.OpExec, Object: "/usr/bin/git"}}, Executed{TID: 1, Old: 1, File: "/usr/bin/git"},
			read("/p/settings")}, nil},
		{"a file that a test lays out and takes away", []Event{say("change", "scratch", "t", testFile), did(policy.OpWrite, "/p/in/scratch", New), say("open", "scratch", "core.load", appFile), read("/p/in/scratch"),
			did(policy.OpWrite, "/p/in/scratch", Remove)}, nil},
		{"variables", []Event{say("env", "SET", "core", appFile), Noted{TID: 1, Text: `{"e":"env","a":["TESTS","set"],"f":"t","at":"` + testFile + `:1"}`}, Noted{TID: 1, Text: `{"e":"env","a":["START","set"]}`}},
			[]string{"env SET"}},
		{"what Python alone tells", []Event{python("import", "flask", "core", appFile), python("import", "pytest", "t", testFile), python("import", "xdist", "", ""), python("call", "threads", "threading.Thread.start", appFile),
			python("call", "process-exec", "os.fork", testFile), python("eval", "call", "len", appFile), python("eval", "call", "getattr", testFile)},
			[]string{"import flask", "call threading.Thread.start", "eval call:len"}},
		{"part of a group", []Event{python("eval", "syntax", "BinOp", appFile), python("eval", "syntax", "UnaryOp", testFile)}, []string{"eval syntax:BinOp"}},
		{"kernel calls", []Event{say("open", "x", "core", appFile), Called{TID: 1, Name: "mlock"}}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k := Knowledge{Macros: policy.Macros{Project: "/p", Home: "/h", Cwd: "/p"}, Program: []string{"/p/run.py"}, Tables: map[string]bool{"files": true, "env": true, "syscalls": true, "python": true},
				SetEnv: func(string) bool { return true }}
			s := NewSplit(k)
			for _, e := range tt.events {
				s.Add(e)
			}
			empty, err := policy.Parse("/p/.py-sandboxes", nil)
			if err != nil {
				t.Fatal(err)
			}
			grants, _ := s.Application(k, empty)
			var got []string
			for _, g := range grants {
				got = append(got, string(g.Access.Op)+" "+g.Text)
			}
			if !slices.Equal(got, tt.app) {
				t.Errorf("the application gets %q, want %q", got, tt.app)
			}
			whole, _ := Generalise(s.All, k)
			alone, _ := Generalise(setOf(tt.events), k)
			if ruleLines(whole) != ruleLines(alone) {
				t.Errorf("the whole is\n%swant\n%s", ruleLines(whole), ruleLines(alone))
			}
		})
	}
}
