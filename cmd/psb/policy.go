package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"psb/policy"
	"psb/policy/approval"
)

// editing is one policy file and what its words mean here.
type editing struct {
	w      *world
	path   string // absolute
	macros policy.Macros
}

func newEditing(w *world, file string) *editing {
	if file == "" {
		file = policyName
	}
	e := &editing{w: w, path: absolute(w.cwd, file)}
	e.macros = macros(w.id, filepath.Dir(e.path), "", "", "", w.lookup)
	e.macros.Cwd = w.cwd
	return e
}

func (e *editing) load() (*policy.Policy, error) {
	p, err := policy.Load(policy.ReadFile, shown(e.w.cwd, e.path), e.macros)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, refuse("psb --learn …, or psb policy add OP OBJECT", "policy %s: no such file", shown(e.w.cwd, e.path))
	}
	if err != nil {
		return nil, refuse("psb policy help", "%s", err)
	}
	return p, nil
}

// show prints the bytes as they are, on a terminal what cannot be seen escaped.
func (e *editing) show() error {
	p, err := e.load()
	if err != nil {
		return err
	}
	for i, s := range p.Sources {
		if i > 0 {
			if _, err := fmt.Fprintf(e.w.stdio[1], "\n# included: %s\n", plainText(s.Name)); err != nil {
				return err
			}
		}
		text := s.Bytes
		if isTerminal(e.w.stdio[1]) {
			text = []byte(plainLines(string(text)))
		}
		if _, err := e.w.stdio[1].Write(text); err != nil {
			return err
		}
	}
	return nil
}

// sayLine prints one line of an answer.
func (e *editing) sayLine(format string, args ...any) error {
	_, err := fmt.Fprintln(e.w.stdio[1], plainLine(fmt.Sprintf(format, args...)))
	return err
}

// add writes the lines for each object, or none where one of them cannot be a rule.
func (e *editing) add(args []string) error {
	each, err := e.split(args)
	if err != nil {
		return err
	}
	var rules []policy.Rule
	for _, one := range each {
		list, err := e.rules(one)
		if err != nil {
			return err
		}
		rules = append(rules, list...)
	}
	if err := e.change(func(old []byte) ([]byte, []policy.Change, error) { return policy.Edit(old, rules) }); err != nil {
		return err
	}
	return e.doubt(rules)
}

func (e *editing) remove(args []string) error {
	words, err := e.words(args)
	if err != nil {
		return err
	}
	r, err := e.rule(words, "remove")
	if err != nil {
		return err
	}
	if !present(e.path) {
		return refuse("", "policy %s: no such file", shown(e.w.cwd, e.path))
	}
	return e.change(func(old []byte) ([]byte, []policy.Change, error) { return policy.Remove(old, r) })
}

// change edits the file and keeps it approved: whoever types a rule has read it. A file that was not approved before stays so.
func (e *editing) change(edit func(old []byte) ([]byte, []policy.Change, error)) error {
	store := approval.At(e.macros.Config)
	trusted := true
	if present(e.path) {
		p, err := e.load()
		if err != nil {
			return err
		}
		state, _, err := store.Check(e.path, p.Sources)
		if err != nil {
			return refuse("", "approvals: %s", err)
		}
		trusted = state == approval.Approved
	}
	var changes []policy.Change
	err := policy.Update(e.path, func(old []byte, exists bool) ([]byte, error) {
		if !exists {
			old = policy.New("")
		}
		src, list, err := edit(old)
		if err != nil {
			return nil, err
		}
		changes = list
		p, err := policy.Load(e.reading(map[string][]byte{e.path: src}), shown(e.w.cwd, e.path), e.macros)
		if err != nil {
			return nil, err
		}
		_, err = p.Expand(e.macros) // a rule that the next run would refuse is not written
		return src, err
	})
	if err != nil {
		return e.refused(err)
	}
	for _, c := range changes {
		if err := e.sayLine("%s", changeLine(shown(e.w.cwd, e.path), c)); err != nil {
			return err
		}
	}
	if !trusted {
		e.w.ui.say("%s was not approved before and is not now", shown(e.w.cwd, e.path))
		e.w.ui.hint("read it, then psb policy approve%s", e.flag())
		return nil
	}
	p, err := e.load()
	if err != nil {
		return err
	}
	if err := store.Approve(e.path, p.Sources); err != nil {
		return refuse("", "approvals: %s", err)
	}
	return nil
}

// reading gives policy files as Load asks for them, some with another text than the one on disk.
func (e *editing) reading(instead map[string][]byte) func(string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		if text, ok := instead[absolute(e.w.cwd, name)]; ok {
			return text, nil
		}
		return policy.ReadFile(name)
	}
}

// refused words why a change was not made, each line with the file's name once.
func (e *editing) refused(err error) *refusal {
	name := shown(e.w.cwd, e.path)
	var pe *policy.ParseError
	if errors.As(err, &pe) {
		return refuse("", "%s", err)
	}
	if at, what, ok := strings.Cut(strings.TrimPrefix(err.Error(), "line "), ": "); ok && strings.HasPrefix(err.Error(), "line ") {
		return refuse("", "%s:%s: %s", name, at, what)
	}
	if strings.HasPrefix(err.Error(), "cannot write ") {
		return refuse("", "%s", err)
	}
	return refuse("", "%s: %s", name, err)
}

// changeLine words one change: the line as it is now, or the one that went.
func changeLine(file string, c policy.Change) string {
	for _, text := range []*string{&c.Old, &c.New} { // a name of a list stands indented; a list that was broken up is shown as one
		if *text = strings.TrimSpace(*text); strings.Contains(*text, "\n") {
			*text = strings.Join(strings.Fields(*text), " ")
		}
	}
	switch {
	case c.New == "":
		return fmt.Sprintf("%s:%d removed: %s", file, c.Line, c.Old)
	case c.Old == "":
		return fmt.Sprintf("%s:%d added: %s", file, c.Line, c.New)
	}
	return fmt.Sprintf("%s:%d now: %s", file, c.Line, c.New)
}

func (e *editing) flag() string {
	if s := shown(e.w.cwd, e.path); s != policyName {
		return " --policy " + shellQuote(s)
	}
	return ""
}

// approve shows what changed since the last approved text. On a terminal it asks; elsewhere the words are the approval.
func (e *editing) approve(forget bool) error {
	store := approval.At(e.macros.Config)
	name := shown(e.w.cwd, e.path)
	if forget {
		state, _, err := store.Check(e.path, nil)
		if err == nil && state == approval.Never {
			return e.sayLine("nothing to forget: %s was never approved", name)
		}
		if err := store.Forget(e.path); err != nil { // a record that cannot be read is forgotten, too
			return refuse("", "approvals: %s", err)
		}
		return e.sayLine("forgotten: %s is not approved any more, and never was", name)
	}
	p, err := e.load()
	if err != nil {
		return err
	}
	state, last, err := store.Check(e.path, p.Sources)
	if err != nil {
		return refuse("", "approvals: %s", err)
	}
	if state == approval.Approved {
		return e.sayLine("already approved: %s (%s)", name, counted(len(p.Rules), "rule"))
	}
	if _, err := fmt.Fprint(e.w.stdio[1], approval.Diff(last, p.Sources)); err != nil { // escaped by Diff
		return err
	}
	if e.w.terminal() && !(&job{w: e.w}).ask("approve it? [y/N] ", "y") {
		return refuse("psb policy approve"+e.flag(), "not approved")
	}
	if err := store.Approve(e.path, p.Sources); err != nil {
		return refuse("", "approvals: %s", err)
	}
	return e.sayLine("approved: %s (%s)", name, counted(len(p.Rules), "rule"))
}

// check tells every problem of the file at once, and what would stop a run here though the file is right.
func (e *editing) check() error {
	p, problems, notes, err := e.examine()
	if err != nil {
		return err
	}
	name := shown(e.w.cwd, e.path)
	if len(problems) > 0 {
		r := refuse("psb policy help", "%s", strings.Join(problems, "\n"))
		for _, n := range notes {
			r.what += "\nnote: " + n
		}
		return r
	}
	if err := e.sayLine("%s: %s, no problem", name, counted(len(p.Rules), "rule")); err != nil {
		return err
	}
	for _, n := range notes {
		if err := e.sayLine("note: %s", n); err != nil {
			return err
		}
	}
	return nil
}

// examine finds problems until there are no new ones: lines that have one are taken out, so that those behind them show, too.
func (e *editing) examine() (p *policy.Policy, problems, notes []string, err error) {
	texts := map[string][]byte{}
	name := shown(e.w.cwd, e.path)
	for round := 0; ; round++ {
		p, err = policy.Load(e.reading(texts), name, e.macros)
		var pe *policy.ParseError
		switch {
		case errors.Is(err, fs.ErrNotExist) && pe == nil && !errors.As(err, &pe):
			_, err = e.load()
			return nil, nil, nil, err
		case err != nil && !errors.As(err, &pe):
			return nil, nil, nil, refuse("", "%s", err)
		}
		var found []policy.Problem
		if pe != nil {
			found = pe.Problems
		} else {
			found, notes, err = e.problems(p)
			if err != nil {
				return nil, nil, nil, err
			}
		}
		fresh := 0
		for _, x := range found {
			if line := x.String(); !slices.Contains(problems, line) && (round == 0 || !strings.HasPrefix(x.What, "syntax: ")) {
				problems = append(problems, line)
				fresh++
			}
			e.blank(texts, x)
		}
		if fresh == 0 || round == 8 {
			slices.SortStableFunc(problems, byPlace)
			return p, problems, notes, nil
		}
	}
}

// blank takes the line of a problem out of the text that the next round reads; a table's head takes its lines along.
func (e *editing) blank(texts map[string][]byte, x policy.Problem) {
	if x.Line == 0 || x.File == "" {
		return
	}
	path := absolute(e.w.cwd, x.File)
	text, err := e.reading(texts)(path)
	if err != nil {
		return
	}
	lines := bytes.Split(text, []byte("\n"))
	if x.Line > len(lines) {
		return
	}
	head := bytes.HasPrefix(bytes.TrimSpace(lines[x.Line-1]), []byte("["))
	lines[x.Line-1] = nil
	for i := x.Line; head && i < len(lines) && !bytes.HasPrefix(bytes.TrimSpace(lines[i]), []byte("[")); i++ {
		lines[i] = nil
	}
	texts[path] = bytes.Join(lines, []byte("\n"))
}

// byPlace sorts "file:line: what" by line within one file and leaves files in the order in which they were read.
func byPlace(a, b string) int {
	fa, la := place(a)
	fb, lb := place(b)
	if fa != fb {
		return 0
	}
	return la - lb
}

var placed = regexp.MustCompile(`^(.*?):(\d+): `)

// place takes the file and the line off the front of a problem.
func place(problem string) (file string, line int) {
	if m := placed.FindStringSubmatch(problem); m != nil {
		line, _ = strconv.Atoi(m[2])
		return m[1], line
	}
	return "", 0
}
