package report

import (
	"fmt"
	"strings"
)

// finding is one thing to look at, before SARIF or JUnit give it their form. They show the same ones in the same order.
type finding struct {
	rule   string // denied/read, gap/namespaces, limit/memory, planted, refused, learned/read, floor/connect
	level  string // error: it stopped something or was refused; warning: worth a thought; note: for the record
	object string // what it is about, as a person would name it; with rule it is the finding's identity
	name   string // what happened to it, without counts: the same in the next run
	title  string // name and more, one line
	more   []string
	at     place
	also   []place
	soft   bool // a gap that nobody asked to close
}

// place is in a file of the sources (relative) or outside of them (absolute).
type place struct {
	file string
	line int
}

// findings are everything in a report that somebody should see.
func (r *Report) findings() []finding {
	var out []finding
	for _, d := range r.Denials {
		out = append(out, r.denied(d))
	}
	out = append(out, r.overflow()...)
	for _, g := range r.Gaps {
		level := "note"
		if g.Open() {
			level = "error"
		}
		out = append(out, finding{rule: "gap/" + g.Name, level: level, object: g.Name, soft: g.Soft, name: "gap " + g.Name, title: "gap " + g.Name + ": " + g.Lost,
			more: []string{"needs " + g.Needs}, at: r.anywhere()})
	}
	for _, l := range r.Limits {
		if l.Reached {
			out = append(out, r.reached(l))
		}
	}
	for _, p := range r.Planted {
		f := finding{rule: "planted", level: "error", object: r.relative(p), title: "planted: " + r.relative(p), at: r.anywhere(),
			more: []string{"the program put it where a protected file would be read from; it counts for nothing until somebody accepts it"}}
		if name, ok := r.inside(p); ok {
			f.at = place{name, 1}
		}
		out = append(out, f)
	}
	out = append(out, r.learning()...)
	out = append(out, r.audited()...)
	if r.Error != "" {
		out = append(out, finding{rule: "refused", level: "error", object: r.Reason, title: firstLine(r.Error), more: restLines(r.Error), at: r.anywhere()})
	}
	for i := range out {
		f := &out[i]
		if f.name == "" {
			f.name = f.title
		}
		f.rule, f.name, f.title = visible(f.rule), visible(f.name), visible(f.title)
		for j, m := range f.more {
			f.more[j] = visible(m)
		}
	}
	return out
}

func (r *Report) denied(d Denial) finding {
	object := r.relative(d.Object)
	f := finding{rule: "denied/" + d.Op, level: "error", object: object, name: "denied: " + d.Op + " " + object}
	f.title = f.name + times(d.Count)
	policy := r.atPolicy(d)
	f.at = policy
	if file, line := splitPlace(d.Where); d.Where != "" {
		if name, ok := r.inside(file); ok {
			f.at, f.also = place{name, max(line, 1)}, []place{policy}
		} else {
			f.more = append(f.more, "at "+d.Where)
		}
	}
	if d.Hint != "" {
		f.more = append(f.more, d.Hint)
	}
	if d.Wider != "" {
		f.more = append(f.more, d.Wider)
	}
	if d.Source == "reported" {
		f.more = append(f.more, "reported by the program's own process")
	}
	return f
}

// atPolicy is the line of the policy that answers; a policy outside the sources is told by the name it would have among them.
func (r *Report) atPolicy(d Denial) place {
	if name, ok := r.inside(d.File); ok {
		return place{name, max(d.Line, 1)}
	}
	return r.anywhere()
}

// anywhere is the place of what has none: viewers drop a result without one.
func (r *Report) anywhere() place {
	for _, file := range []string{r.Policy, r.Program} {
		if name, ok := r.inside(file); ok {
			return place{name, 1}
		}
	}
	return place{policyName, 1}
}

func (r *Report) overflow() []finding {
	if r.More.Count == 0 && !r.More.AtLeast {
		return nil
	}
	return []finding{{rule: "denied/more", level: "error", object: "more", name: "denied: others", title: "denied: " + r.More.String() + " that the report does not hold", at: r.anywhere()}}
}

// String words the refusals that were counted only.
func (m More) String() string {
	switch {
	case m.Count == 0:
		return "others"
	case m.AtLeast:
		return fmt.Sprintf("at least %d others", m.Count)
	}
	return fmt.Sprintf("%d others", m.Count)
}

func (r *Report) reached(l Limit) finding {
	what := "ended by the limit "
	if l.Name == "pids" {
		what = "new processes were refused by the limit "
	}
	f := finding{rule: "limit/" + l.Name, level: "error", object: l.Name, title: what + l.Name + " = " + l.Text, more: []string{"from " + l.Origin}, at: r.anywhere()}
	if file, line := splitPlace(l.Origin); line > 0 {
		if name, ok := r.inside(r.absolute(file)); ok {
			f.at = place{name, line}
		}
	}
	return f
}

func (r *Report) absolute(file string) string {
	if strings.HasPrefix(file, "/") {
		return file
	}
	return strings.TrimSuffix(r.Folder, "/") + "/" + file
}

func (r *Report) learning() []finding {
	var out []finding
	for _, g := range r.Learned {
		f := finding{rule: "learned/" + g.Op, level: "note", object: g.Text, name: "learned: " + g.Op + " " + g.Text, at: r.anywhere()}
		f.title = f.name
		if g.Tier != "normal" {
			f.level = "warning"
			f.title += " ! " + g.Alert
		}
		if g.Why != "" {
			f.more = []string{"for " + g.Why}
		}
		out = append(out, f)
	}
	for _, list := range []struct {
		rule, what string
		of         []Attempt
	}{{"floor/", "never granted", r.Never}, {"refused/", "refused while learning", r.Refused}} {
		for _, a := range list.of {
			f := finding{rule: list.rule + a.Op, level: "warning", object: r.relative(a.Object), at: r.anywhere()}
			f.name = list.what + ": " + a.Op + " " + f.object
			f.title = f.name + times(a.Count)
			if a.Errno != "" {
				f.more = []string{a.Errno}
			}
			out = append(out, f)
		}
	}
	return out
}

// outcome is the run's end in one line.
func (r *Report) outcome() string { return visible(r.ending()) }

func (r *Report) ending() string {
	switch {
	case r.Error != "":
		return "psb: " + firstLine(r.Error)
	case r.Failed:
		return fmt.Sprintf("refusals, so status %d (--fail-on-denial)", r.Status)
	case r.Reason == "signal":
		return "the program was ended by " + r.Signal
	case r.Reason == "exit":
		return fmt.Sprintf("the program ended with status %d", r.Status)
	}
	return fmt.Sprintf("ended by the limit %s, status %d", r.Reason, r.Status)
}

func firstLine(s string) string { l, _, _ := strings.Cut(s, "\n"); return l }

func restLines(s string) []string {
	_, rest, _ := strings.Cut(strings.TrimRight(s, "\n"), "\n")
	if rest == "" {
		return nil
	}
	return strings.Split(rest, "\n")
}
