package main

import (
	"os"
	"slices"
	"strings"

	"psb/policy"
	"psb/pythonshim"
)

// What Python was refused is known from Python alone: psb's code inside the interpreter refused it and says so. The line is judged again by the
// policy like every other, so that it blames the sandbox only for what no rule allows, and is marked as reported.

// ofPython reports the operations that only psb's code inside Python can refuse.
func ofPython(op policy.Op) bool {
	return op == policy.OpImport || op == policy.OpCall || op == policy.OpEval
}

// saidRefusal is the access that a note of a refusal means; false for one of which nothing can be made.
func saidRefusal(n pythonshim.Note) (policy.Access, bool) {
	op := policy.Op(n.Args[0])
	if !ofPython(op) {
		return policy.Access{}, false
	}
	a, err := policy.ParseAccess(string(op) + " " + n.Args[1])
	if err != nil || a.Object != n.Args[1] {
		return policy.Access{}, false
	}
	return a, true
}

// widerHint names the category that a refused function belongs to, in words, with the line that would allow all of it; "" where there is none.
func widerHint(j *job, a policy.Access) string {
	if a.Op != policy.OpCall {
		return ""
	}
	for _, c := range policy.Registry() {
		if slices.Contains(c.Functions, a.Object) {
			return "or all of " + c.Name + " (" + c.What + "): psb policy add " + policyFlag(j) + "call " + c.Name
		}
	}
	return ""
}

// textHint is the way for evaluated text that opens least.
const textHint = "psb --learn writes what the text needs to [python.eval]"

// boundlessHint is the way for text that no bounds can hold.
const boundlessHint = "no rule of [python.eval] holds this text; without any bounds: dynamic-code in [python.call], in place of [python.eval]"

// bounds: evaluated text has rules of its own.
func bounds(p *policy.Policy) bool {
	if p == nil {
		return false
	}
	_, has := p.Eval[""]
	return has
}

// rawText: a built-in that runs text, whose own line would lift every bound.
func rawText(a policy.Access) bool {
	return a.Op == policy.OpCall && (a.Object == "builtins.eval" || a.Object == "builtins.exec" || a.Object == "builtins.compile")
}

// withoutPythonRule says whether something inside Python needs no line, and why.
func (e *editing) withoutPythonRule(p *policy.Policy, a policy.Access) (bool, string, error) {
	switch a.Op {
	case policy.OpCall:
		for _, c := range policy.Registry() {
			if c.Name == a.Object || slices.Contains(c.Functions, a.Object) {
				return false, "no rule; " + c.Name + " " + c.What, nil
			}
		}
		return true, "no sensitive function: it needs no line", nil
	case policy.OpImport:
		for _, name := range policy.SensitiveImports() {
			if a.Object == name || strings.HasPrefix(a.Object, name+".") {
				return false, "no rule; a sensitive module of the standard library", nil
			}
		}
		j, err := e.compiled(p, false)
		if err != nil {
			return false, "", err
		}
		top, _, _ := strings.Cut(a.Object, ".")
		switch {
		case j.layout != nil && standardModule(j, top):
			return true, "the standard library needs no line", nil
		case moduleIn(e.macros.Project, top):
			return true, "the project's own modules need no line", nil
		}
	case policy.OpEval:
		if len(p.Eval) == 0 {
			return false, "no table [python.eval]: evaluated text is refused", nil
		}
	}
	return false, "no rule", nil
}

// builtIn are modules of the standard library that may have no file; each Python has most of them.
var builtIn = strings.Fields("builtins sys _abc _ast _codecs _collections _functools _imp _io _locale _operator _signal _sre _stat _string _symtable _thread _tracemalloc _typing " +
	"_warnings _weakref atexit errno faulthandler gc itertools marshal posix pwd time xxsubtype array binascii cmath math select unicodedata zlib grp syslog")

func standardModule(j *job, name string) bool {
	return slices.Contains(builtIn, name) || moduleIn(j.layout.Stdlib, name) || moduleIn(j.layout.Platlib, name)
}

// moduleIn: a folder holds a module or package of that name.
func moduleIn(dir, name string) bool {
	if dir == "" || strings.ContainsRune(name, '/') || name == "site-packages" || name == "dist-packages" {
		return false
	}
	list, err := os.ReadDir(dir)
	return err == nil && slices.ContainsFunc(list, func(entry os.DirEntry) bool {
		n := entry.Name()
		return n == name && entry.IsDir() || n == name+".py" || strings.HasPrefix(n, name+".") && strings.HasSuffix(n, ".so")
	})
}
