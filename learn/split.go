package learn

import (
	"path"
	"slices"
	"strings"

	"psb/policy"
)

// Split tells what the application asked from what its tests and their runner asked. It decides only in which of two files a rule stands,
// never whether there is one: all of it stands on notes, which the program could write, too. What is in doubt is the runner's.
type Split struct {
	All *Set // everything
	App *Set // what code of the application asked, and what it takes to load that code

	k     Knowledge
	tests map[string]bool // files of code that the runner itself loaded
	code  map[string]bool // files of code that the program loaded
	execs map[int]bool    // by thread: the application asked for its last exec
	apps  map[int]bool    // by thread: its process is a program that the application started
}

// NewSplit needs to know the project, and the program on the command line.
func NewSplit(k Knowledge) *Split {
	return &Split{All: NewSet(), App: NewSet(), k: k, tests: map[string]bool{}, code: map[string]bool{}, execs: map[int]bool{}, apps: map[int]bool{}}
}

// Add takes one event in.
func (s *Split) Add(e Event) {
	s.All.Add(e)
	app := true
	switch e := e.(type) {
	case Accessed:
		app = s.asked(e)
		if e.Access.Op == policy.OpExec && e.Errno == "" {
			s.execs[e.TID] = app
		}
	case Noted:
		n, ok := parseNote(e.Text)
		s.loads(n)
		app = ok && (n.Event != "env" && !n.speaks() || s.appCode(n.file()))
	case Spawned:
		s.apps[e.Child] = s.apps[e.TID]
	case Executed:
		by := s.execs[e.Old]
		delete(s.execs, e.Old)
		delete(s.apps, e.Old)
		s.apps[e.TID] = by
	case Exited:
		delete(s.execs, e.TID)
		delete(s.apps, e.TID)
	case Called, Refused: // nobody says for whom
		app = false
	}
	if app {
		s.App.Add(e)
	}
}

// asked reports whether the application asked for an access.
func (s *Split) asked(e Accessed) bool {
	n := s.All.explained(e.TID, e.Access)
	changes := e.How == Remove || e.How == RemDir || e.How == NewDir
	switch {
	case n == nil, changes && n.Event == "open" && len(n.Args) > 0 && path.Base(n.Args[0]) == path.Base(e.Access.Object): // opening a name is not what takes it away
		return s.apps[e.TID]
	case strings.HasPrefix(n.Func, importOf):
		return e.Access.Op == policy.OpRead && s.appCode(source(e.Access.Object)) // code of the application, whoever loads it first
	}
	return s.appCode(n.file())
}

// importOf begins what the shim says instead of a function when an import asks.
const importOf = "import of "

// loads remembers who loads code: what the runner itself loads is tests, but for the packages around them, and for what the program had loaded.
func (s *Split) loads(n note) {
	if n.Event != "open" || len(n.Args) != 1 || path.Ext(source(n.Args[0])) != ".py" {
		return
	}
	file := s.absolute(source(n.Args[0]))
	switch {
	case n.At != "" && strings.HasPrefix(n.Func, importOf):
		s.code[file] = true
	case n.At == "" && n.Func != "" && path.Base(file) != "__init__.py" && !s.code[file]:
		s.tests[file] = true
	}
}

// source gives the file that byte code was made from: "pkg/__pycache__/mod.cpython-311.pyc" is "pkg/mod.py".
func source(file string) string {
	dir, name := path.Split(file)
	if above, ok := strings.CutSuffix(dir, "__pycache__/"); ok && path.Ext(name) == ".pyc" {
		name, _, _ = strings.Cut(name, ".")
		return above + name + ".py"
	}
	return file
}

func (s *Split) absolute(file string) string {
	if file == "" || path.IsAbs(file) || s.k.Macros.Cwd == "" {
		return path.Clean("/" + file)
	}
	return path.Join(s.k.Macros.Cwd, file)
}

// appCode reports a file of the project that is not a test, not the runner's own and not what was named on the command line.
func (s *Split) appCode(file string) bool {
	if file == "" || strings.HasPrefix(file, "<") {
		return false
	}
	file = s.absolute(file)
	return below(file, s.k.Macros.Project) && !s.tests[file] && match(s.k.Program, file) < 0 && !testCode(strings.TrimPrefix(file, s.k.Macros.Project+"/"))
}

// testCode reports a file that by its name, or by a folder's, holds tests: what pytest and unittest look for.
func testCode(file string) bool {
	elems := strings.Split(file, "/")
	name := elems[len(elems)-1]
	return strings.HasPrefix(name, "test_") || strings.HasSuffix(name, "_test.py") || slices.Contains([]string{"conftest.py", "test.py", "tests.py"}, name) ||
		slices.ContainsFunc(elems[:len(elems)-1], func(e string) bool { return e == "test" || e == "tests" })
}

// listings gives the application the names in folders that hold code of it: to find a module, Python lists the folder, once, whoever asks first.
func (s *Split) listings() {
	for _, f := range s.App.sorted() {
		file := source(f.object)
		if !f.read || path.Ext(file) != ".py" && path.Ext(file) != ".so" {
			continue
		}
		folders := []string{dirOf(file)}
		if path.Base(file) == "__init__.py" {
			folders = append(folders, dirOf(folders[0]))
		}
		for _, dir := range folders {
			listed := s.All.files[dir]
			if listed == nil || !listed.list || !atOrBelow(dir, s.k.Macros.Project) {
				continue
			}
			own := s.App.file(dir)
			own.list, own.dir, own.known = true, true, true
			own.because = firstOf(own.because, f.because)
		}
	}
}

// Application is Propose for what the application asked. It holds nothing that learning the whole run would not allow: what a test laid out for
// the application in files of its own, and took away again, is no need of the application.
func (s *Split) Application(k Knowledge, p *policy.Policy) ([]Grant, *Report) {
	s.listings()
	missing, report := Propose(s.App, k, p)
	whole, _ := Generalise(s.All, k)
	var q *policy.Policy
	text, _, err := policy.Edit(nil, Rules(whole))
	if err == nil {
		if q, err = policy.Parse(path.Join(k.folder(), "whole"), text); err == nil {
			q, err = q.Expand(k.Macros)
		}
	}
	if err != nil { // learning would fail to write them as well, and says so
		return missing, report
	}
	report.Added = slices.DeleteFunc(missing, func(g Grant) bool { return !q.Decide(g.Access).Allowed })
	return report.Added, report
}
