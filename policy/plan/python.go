package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"psb/policy"
)

// PythonLayer is what holds the lines of [python.import], [python.call] and [python.eval] in a run: psb's code inside the interpreter.
type PythonLayer struct {
	Present     bool     `json:"present"`
	How         string   `json:"how,omitempty"`         // overlay: laid over the interpreter's encodings; sitecustomize: found by PYTHONPATH
	Interpreter string   `json:"interpreter,omitempty"` // its file, "" where none was found
	Version     string   `json:"version,omitempty"`     // "3.11"
	Why         string   `json:"why,omitempty"`         // it is not there
	Imports     int      `json:"imports"`               // lines of [python.import]
	Calls       int      `json:"calls"`                 // lines of [python.call]
	Eval        []string `json:"eval_profiles"`         // of [python.eval]: "" is the one without a name; none: evaluated text is refused
	needs       string   // what would bring it
	command     string   // what is run where that is not the interpreter itself
}

// pythonLayer says whether psb's code gets into Python, and names a gap where the policy has lines that only it holds.
func (c *compiler) pythonLayer(p *Plan, r Request) PythonLayer {
	l := PythonLayer{Present: p.Shim, Eval: []string{}}
	profiles := maps.Clone(r.Policy.Eval)
	for _, rule := range r.Policy.Rules {
		switch rule.Op {
		case policy.OpImport:
			l.Imports++
		case policy.OpCall:
			l.Calls++
		case policy.OpEval: // one of --allow may be the first of its table
			profile, _, named := strings.Cut(rule.Pattern.Text, "/")
			if !named {
				profile = ""
			}
			if profiles == nil {
				profiles = map[string]policy.Eval{}
			}
			profiles[profile] = policy.Eval{}
		}
	}
	l.Eval = slices.AppendSeq(l.Eval, maps.Keys(profiles))
	slices.Sort(l.Eval)
	if py := r.Host.Python; py != nil {
		l.Interpreter, l.Version = py.Executable, py.Version
	}
	if !r.Command.Python {
		l.command = r.Command.Exec
	}
	switch {
	case l.Present && r.ShimPath != "":
		l.How = "sitecustomize"
	case l.Present:
		l.How = "overlay"
	case p.Provider == None:
		l.Why, l.needs = "provider none: psb is not there while the program runs", "another provider"
	case !r.Policy.Shim:
		l.Why, l.needs = "shim = false", "the line shim = false removed"
		if at := r.Policy.ShimAt(); at.Line > 0 {
			l.Why += fmt.Sprintf(" (%s)", originText(at))
		}
	case r.Command.Apart && r.ShimPath != "":
		l.Why, l.needs = "without a mount namespace it comes by PYTHONPATH, and -I, -E or -S skip that", "the command without these flags, or a mount namespace"
	case r.Host.Python == nil:
		l.Why, l.needs = "no Python was found", "python3, or --python PATH"
	case !r.Host.Python.ShimFits():
		l.Why, l.needs = "the interpreter's version is not known", "CPython 3.8 or later: --python PATH"
		if l.Version != "" {
			l.Why = "Python " + l.Version + " is older than 3.8"
		}
	default:
		l.Why, l.needs = "psb's code cannot be laid over "+shortQuote(r.Host.Python.Encodings), "an interpreter whose files are plain files"
	}
	if lines := l.lines(); !l.Present && lines != "" && p.Provider != None {
		c.gaps = addGap(c.gaps, Gap{Name: "python", Lost: lines + ": nothing inside Python holds them (" + l.Why + ")", Needs: l.needs, Soft: r.Host.Python == nil})
		// Soft: a command that is no Python, on a host where none was found, runs none.
	}
	return l
}

// lines counts what the policy says of Python, in words; "" for nothing.
func (l *PythonLayer) lines() string {
	var out []string
	for _, t := range []struct {
		n    int
		name string
	}{{l.Imports, "[python.import]"}, {l.Calls, "[python.call]"}} {
		switch t.n {
		case 0:
		case 1:
			out = append(out, "1 line of "+t.name)
		default:
			out = append(out, fmt.Sprintf("%d lines of %s", t.n, t.name))
		}
	}
	for _, name := range l.Eval {
		out = append(out, profileTable(name))
	}
	return strings.Join(out, ", ")
}

func profileTable(name string) string { return strings.TrimSuffix("[python.eval."+name, ".") + "]" }

// text is what explain shows of the layer: where it is, and what it asks a line for.
func (l *PythonLayer) text() []string {
	if !l.Present {
		return []string{"layer off: " + l.Why}
	}
	where := fmt.Sprintf("layer on: %s of %q (%s)", l.How, l.Interpreter, l.Version)
	switch {
	case l.How == "sitecustomize":
		where += "; lost with -I, -E or -S, and in children with another environment"
	case l.command != "":
		where += fmt.Sprintf(", where %q starts it", l.command)
	}
	imports, calls, evals := "the standard library but its sensitive modules", "none that is sensitive", "refused"
	if l.Imports > 0 {
		imports = "as " + counted(l.Imports, "line")
	}
	if l.Calls > 0 {
		calls = "as " + counted(l.Calls, "line")
	}
	if len(l.Eval) > 0 {
		tables := make([]string, len(l.Eval))
		for i, name := range l.Eval {
			tables[i] = profileTable(name)
		}
		evals = strings.Join(tables, " ")
	}
	return []string{where, "imports " + imports + "; calls " + calls + "; evaluated text " + evals}
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
