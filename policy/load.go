package policy

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"strings"
)

const (
	maxDepth = 16 // of includes within includes: also ends a cycle through links, which look like new names
	maxFiles = 64
)

// Load reads the policy at name and everything it includes, and joins them. read gives the text of a file by the
// name asked for; ReadFile is the plain one. A relative name starts at m.Cwd, else at m.Project.
//
// Rules join. For single values the file that includes wins over the one it includes, and a later include over an
// earlier one. A locked file forbids everything outside itself and its own includes to add a right. All problems
// of all files are in one *ParseError; an error of read for the top file itself is returned as it is.
func Load(read func(name string) ([]byte, error), name string, m Macros) (*Policy, error) {
	l := loader{read: read, m: m, seen: map[string]*loaded{}}
	abs, err := absolute(name, m)
	if err != nil {
		return nil, err
	}
	src, err := read(name)
	if err != nil {
		return nil, err
	}
	top := l.file(name, abs, src, nil)
	if err := l.probs.err(); err != nil {
		return nil, err
	}
	p := l.join(top)
	l.checkLocks(p)
	l.probs.shimless(p)
	p.rawBeside(&l.probs)
	if err := l.probs.err(); err != nil {
		return nil, err
	}
	return p, nil
}

// absolute gives the clean absolute path of a policy file named by the user.
func absolute(name string, m Macros) (string, error) {
	switch {
	case name == "":
		return "", errors.New("policy: no file named")
	case path.IsAbs(name):
		return path.Clean(name), nil
	case path.IsAbs(m.Cwd):
		return path.Join(m.Cwd, name), nil
	case path.IsAbs(m.Project):
		return path.Join(m.Project, name), nil
	}
	return "", fmt.Errorf("policy %q: a relative name needs a folder to start from", name)
}

type loaded struct {
	p        *Policy
	includes []*loaded
}

type loader struct {
	read  func(string) ([]byte, error)
	m     Macros
	seen  map[string]*loaded // by absolute path
	order []*loaded
	probs problems
}

// file parses one file and what it includes; chain holds the absolute paths that led to it.
func (l *loader) file(name, abs string, src []byte, chain []string) *loaded {
	f := &loaded{}
	l.seen[abs] = f
	p, err := Parse(name, src)
	if err != nil {
		var pe *ParseError
		if errors.As(err, &pe) {
			l.probs.list = append(l.probs.list, pe.Problems...)
		}
		return f
	}
	p.Sources[0].Path = abs
	f.p = p
	l.order = append(l.order, f)
	chain = append(append([]string{}, chain...), abs)
	for _, inc := range p.Includes {
		if sub := l.include(inc, name, chain); sub != nil {
			f.includes = append(f.includes, sub)
		}
	}
	return f
}

func (l *loader) include(inc Include, from string, chain []string) *loaded {
	here := chain[len(chain)-1]
	t, err := parseTemplate(inc.Text, true)
	if err != nil {
		l.probs.add(inc.Origin, "include %q: %s", inc.Text, err)
		return nil
	}
	text, err := t.expand(l.m.value, asIs, false)
	if err != nil {
		l.probs.add(inc.Origin, "include %q: %s", inc.Text, err)
		return nil
	}
	abs, shown := text, text
	if !path.IsAbs(text) {
		abs = path.Join(path.Dir(here), text)
		shown = path.Join(path.Dir(from), text) // as the user would name it from where the top file was named
	}
	abs = path.Clean(abs)
	for i, c := range chain {
		if c == abs {
			l.probs.add(inc.Origin, "include cycle: %s", strings.Join(append(chain[i:], abs), " includes "))
			return nil
		}
	}
	if f := l.seen[abs]; f != nil {
		return f
	}
	switch {
	case len(chain) >= maxDepth:
		l.probs.add(inc.Origin, "include %q: more than %d files deep", inc.Text, maxDepth)
		return nil
	case len(l.seen) >= maxFiles:
		l.probs.add(inc.Origin, "include %q: more than %d files", inc.Text, maxFiles)
		return nil
	}
	src, err := l.read(abs)
	switch {
	case errors.Is(err, fs.ErrNotExist) && inc.Optional:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		l.probs.add(inc.Origin, "include %q: no file %s (write \"?%s\" if it may be absent)", inc.Text, abs, inc.Text)
		return nil
	case err != nil:
		l.probs.add(inc.Origin, "include %q: %s", inc.Text, err)
		return nil
	}
	return l.file(shown, abs, src, chain)
}

// join puts all files into one policy: rules in reading order, single values with the includer last and so winning.
func (l *loader) join(top *loaded) *Policy {
	p := &Policy{
		Name: top.p.Name, Limits: map[string]Limit{}, Shim: true, Tables: map[string]Origin{}, Eval: map[string]Eval{},
		Sandbox: Sandbox{Origin: map[string]Origin{}}, joined: true, Version: top.p.Version,
	}
	for _, f := range l.order {
		p.Sources = append(p.Sources, f.p.Sources...)
		p.Includes = append(p.Includes, f.p.Includes...)
		p.Rules = append(p.Rules, f.p.Rules...)
		if f.p.Locked && !p.Locked {
			p.Locked, p.LockedAt = true, f.p.LockedAt
		}
	}
	done := map[*loaded]bool{}
	var values func(f *loaded)
	values = func(f *loaded) {
		if f.p == nil || done[f] {
			return
		}
		done[f] = true
		for _, sub := range f.includes {
			values(sub)
		}
		p.over(f.p)
	}
	values(top)
	if p.Locked {
		p.Learn = ""
	}
	return p
}

// over lets the single values of q win over p's. Lists of [sandbox] join.
func (p *Policy) over(q *Policy) {
	if q.Sandbox.Python != "" {
		p.Sandbox.Python = q.Sandbox.Python
	}
	if q.Sandbox.Provider != "" {
		p.Sandbox.Provider = q.Sandbox.Provider
	}
	p.Sandbox.Require = union(p.Sandbox.Require, q.Sandbox.Require)
	p.Sandbox.AllowGaps = union(p.Sandbox.AllowGaps, q.Sandbox.AllowGaps)
	for k, o := range q.Sandbox.Origin {
		p.Sandbox.Origin[k] = o
	}
	for k, v := range q.Limits {
		p.Limits[k] = v
	}
	for k, v := range q.Eval {
		p.Eval[k] = v.over(p.Eval[k])
	}
	for k, o := range q.Tables {
		p.Tables[k] = o
	}
	if q.shimAt.Line > 0 {
		p.Shim, p.shimAt = q.Shim, q.shimAt
	}
	if q.Learn != "" {
		p.Learn, p.learnAt = q.Learn, q.learnAt
	}
	if q.SyscallBase != "" {
		p.SyscallBase = q.SyscallBase
	}
}

// over joins the names of an included profile in; of its values the own win.
func (e Eval) over(included Eval) Eval {
	own := Eval{Origin: e.Origin, Lists: map[string][]string{}, Values: maps.Clone(e.Values)}
	for _, key := range evalLists {
		if list := union(included.Lists[key], e.Lists[key]); list != nil {
			own.Lists[key] = list
		}
	}
	for key, v := range included.Values {
		if _, said := own.Values[key]; !said {
			own.Values[key] = v
		}
	}
	return own
}

func union(a, b []string) []string {
	if a == nil && b == nil {
		return nil
	}
	out := append([]string{}, a...)
	for _, s := range b {
		if !contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// checkLocks holds every file that is neither a locked one nor included by it to narrowing.
func (l *loader) checkLocks(p *Policy) {
	for _, lock := range l.order {
		if !lock.p.Locked {
			continue
		}
		inside := map[*loaded]bool{}
		var mark func(f *loaded)
		mark = func(f *loaded) {
			if !inside[f] {
				inside[f] = true
				for _, sub := range f.includes {
					mark(sub)
				}
			}
		}
		mark(lock)
		for _, f := range l.order {
			if !inside[f] {
				l.onlyNarrows(f.p, lock, inside)
			}
		}
	}
}

// onlyNarrows reports each line of q that would widen what the locked file and its includes allow.
func (l *loader) onlyNarrows(q *Policy, lock *loaded, inside map[*loaded]bool) {
	at := fmt.Sprintf("%s:%d is locked", lock.p.LockedAt.File, lock.p.LockedAt.Line)
	for _, r := range q.Rules {
		if !r.Deny {
			l.probs.add(r.Origin, "%s: %q adds a right; only false, hide, deny and lower limits may be added", at, r.Pattern.Text)
		}
	}
	held := &Policy{Limits: map[string]Limit{}, Eval: map[string]Eval{}, Tables: map[string]Origin{}, Shim: true, Sandbox: Sandbox{Origin: map[string]Origin{}}}
	for i := len(l.order) - 1; i >= 0; i-- {
		if inside[l.order[i]] {
			held.over(l.order[i].p)
		}
	}
	for _, name := range sortedKeys(q.Limits) {
		a, b := q.Limits[name], held.Limits[name]
		if b.Name != "" && (a.Bytes > b.Bytes || a.Count > b.Count || a.CPUs > b.CPUs || a.Time > b.Time) {
			l.probs.add(a.Origin, "%s: %s may only be lower than %s", at, name, b.Text)
		}
	}
	for _, profile := range sortedKeys(q.Eval) {
		own, of := q.Eval[profile], held.Eval
		if _, had := of[profile]; !had {
			l.probs.add(own.Origin, "%s: a table of [python.eval] adds rights", at)
			continue
		}
		for _, key := range sortedKeys(own.Values) {
			x, okX := evalAmount(key, of[profile].Values[key])
			if y, okY := evalAmount(key, own.Values[key]); own.Values[key] != of[profile].Values[key] && !(okX && okY && y < x) {
				l.probs.add(own.Origin, "%s: %s may only be lower", at, key)
			}
		}
	}
	same := map[string]bool{"python": q.Sandbox.Python == held.Sandbox.Python, "provider": q.Sandbox.Provider == held.Sandbox.Provider,
		"allow_gaps": len(q.Sandbox.AllowGaps) == 0, "require": true}
	for _, key := range sortedKeys(q.Sandbox.Origin) {
		if !same[key] {
			l.probs.add(q.Sandbox.Origin[key], "%s: %s cannot be changed", at, key)
		}
	}
	if q.shimAt.Line > 0 && !q.Shim && held.Shim {
		l.probs.add(q.shimAt, "%s: the shim cannot be turned off", at)
	}
}

// Allow gives a copy of p with rules that stand in no file added, as --allow does; from says where they come from
// ("command line"); private brings its connect, as in a file. A locked policy takes only rules that refuse. Call it
// before Expand.
func (p *Policy) Allow(from string, rules ...Rule) (*Policy, error) {
	q := *p
	q.Rules = append([]Rule{}, p.Rules...)
	for _, r := range rules {
		if p.Locked && !r.Deny {
			return nil, fmt.Errorf("%s:%d: the policy is locked, so %s cannot be added", p.LockedAt.File, p.LockedAt.Line, printable(r.String()))
		}
		r.Origin = Origin{From: from}
		q.Rules = append(q.Rules, r)
		if r.Op == OpPrivate {
			r.Op = OpConnect
			q.Rules = append(q.Rules, r)
		}
	}
	return &q, nil
}
