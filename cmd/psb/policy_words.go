package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"psb/policy"
)

// words joins the words of a rule and makes good what is often meant.
func (e *editing) words(args []string) (string, error) {
	fields := strings.Fields(strings.Join(args, " "))
	if len(fields) < 2 {
		return "", &usageError{"OP OBJECT is needed", "psb policy add --help"}
	}
	op := policy.Op(fields[0])
	switch op {
	case "limit", "limits":
		return "", &usageError{"limits are lines of the file, not rules", fmt.Sprintf("edit [limits] in %s: memory = \"512M\"; for one run psb --limit memory=512M …", plainText(shown(e.w.cwd, e.path)))}
	case policy.OpEnv, policy.OpSyscall, policy.OpImport, policy.OpCall, policy.OpEval:
		if len(fields) > 2 {
			return "", &usageError{fmt.Sprintf("%s takes one name, not %s", op, plainText(strings.Join(fields[1:], " "))), ""}
		}
	case policy.OpCreate, policy.OpList:
		name := strings.TrimPrefix(strings.Join(args, " "), string(op)+" ")
		if fi, err := os.Stat(absolute(e.w.cwd, name)); err == nil && fi.IsDir() && !strings.HasSuffix(name, "/") {
			return string(op) + " " + name + "/", nil
		}
	case policy.OpExec:
		if name := strings.Join(args[1:], " "); len(args) > 1 && !strings.ContainsAny(name, "/~$") && !present(absolute(e.w.cwd, name)) {
			if p, err := findCommand(e.w, name); err == nil { // a command as a shell would find it
				return string(op) + " " + p, nil
			}
		}
	}
	return strings.Join(args, " "), nil
}

func (e *editing) rule(words, verb string) (policy.Rule, error) {
	r, err := policy.ParseRule(words, filepath.Dir(e.path), e.macros)
	if err != nil {
		return r, refuse(e.meant(verb, words), "%s", err)
	}
	return r, nil
}

// rules are the lines for one object. A file that is to be made gets one of its own beside that of its folder, as learning writes them: the next
// run finds it there.
func (e *editing) rules(one []string) ([]policy.Rule, error) {
	words, err := e.words(one)
	if err != nil {
		return nil, err
	}
	r, err := e.rule(words, "add")
	if err != nil {
		return nil, err
	}
	name, file := strings.CutPrefix(words, string(policy.OpCreate)+" ")
	if !file || strings.HasSuffix(name, "/") {
		return []policy.Rule{r}, nil
	}
	own, err := e.rule(string(policy.OpWrite)+" "+name, "add")
	return []policy.Rule{r, own}, err
}

// split gives each object that is to be added its operation.
func (e *editing) split(args []string) ([][]string, error) {
	op, objects := args[0], args[1:]
	if len(objects) == 1 || strings.HasPrefix(op, "limit") || strings.ContainsAny(op, " \t") {
		return [][]string{args}, nil
	}
	whole := strings.Join(objects, " ")
	here := func(name string) bool { return present(absolute(e.w.cwd, name)) }
	switch {
	case op == string(policy.OpEnv) && slices.ContainsFunc(objects, func(name string) bool { return strings.ToUpper(name) != name && !strings.Contains(name, "_") }):
		return nil, &usageError{"env takes names of variables, not " + plainText(whole),
			fmt.Sprintf("to set a value, edit [env] in %s: %s = %q", plainText(shown(e.w.cwd, e.path)), objects[0], strings.Join(objects[1:], " "))}
	case here(whole) && !slices.ContainsFunc(objects, here):
		return nil, &usageError{fmt.Sprintf("%s names %d objects", plainText(whole), len(objects)),
			"if it is one: psb policy add" + e.flag() + " " + shellQuote(op) + " " + shellQuote(whole)}
	}
	var each [][]string
	for _, object := range objects {
		each = append(each, []string{op, object})
	}
	return each, nil
}

// meant is the command with the words that were most likely meant; where none are near, where all words stand.
func (e *editing) meant(verb, words string) string {
	op, object, _ := strings.Cut(words, " ")
	near := policy.Meant(op, strings.TrimSpace(object))
	if near == "" {
		return "psb policy " + verb + " --help"
	}
	op, object, _ = strings.Cut(near, " ")
	return "psb policy " + verb + e.flag() + " " + op + " " + shellQuote(object)
}

// doubt tells of an import that nothing here can answer, where a module that is here has nearly the same name. The line stands: the module may
// be installed later.
func (e *editing) doubt(rules []policy.Rule) error {
	for _, r := range rules {
		top, _, _ := strings.Cut(r.Pattern.Text, ".")
		if r.Op != policy.OpImport || top == "*" {
			continue
		}
		known, err := e.modules()
		if err != nil || slices.Contains(known, top) {
			return err
		}
		if near := policy.MeantModule(top, known); near != "" {
			e.w.ui.say("no module %s is here; did you mean %s?", top, near)
			e.w.ui.hint("psb policy remove%s import %s, then psb policy add%s import %s", e.flag(), r.Pattern.Text, e.flag(), near)
		}
	}
	return nil
}

// modules are the names that an import can have here: the project's, the interpreter's, and what is installed for it.
func (e *editing) modules() ([]string, error) {
	p, err := e.load()
	if err != nil {
		return nil, err
	}
	j, err := e.compiled(p, false)
	if err != nil || j.layout == nil {
		return nil, err
	}
	out := slices.Concat(builtIn, policy.SensitiveImports())
	for _, dir := range append([]string{e.macros.Project, j.layout.Stdlib, j.layout.Platlib}, j.layout.Sites...) {
		list, err := os.ReadDir(dir)
		if err != nil {
			continue // as Python goes on without it
		}
		for _, entry := range list {
			if name, ending, _ := strings.Cut(entry.Name(), "."); entry.IsDir() && ending == "" || ending == "py" || strings.HasSuffix(ending, "so") {
				out = append(out, name)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}
