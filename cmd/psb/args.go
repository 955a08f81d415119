package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"psb/cmd/psb/report"
)

// form is how the program was named on the command line.
type form uint8

const (
	formREPL   form = iota // nothing
	formStdin              // -
	formScript             // SCRIPT
	formModule             // -m MOD
	formCode               // -c CMD
	formInfo               // -V, --help-…: the interpreter prints and ends
)

// runLine is a parsed `psb [psb options] [python options] (-m MOD | -c CMD | SCRIPT | - | nothing) [args]`.
type runLine struct {
	options
	pyOpts []string // interpreter options, as given
	form   form
	target string // script path, module name or code
	args   []string
}

// options are psb's own; all are long.
type options struct {
	policy       string
	audit        bool
	auditFile    string
	learn        bool
	learnFile    string
	learnRun     string // the policy of a test runner
	learnUnix    []string
	learnWrite   []string
	allow        []string
	limits       []string
	python       string
	provider     string
	allowGaps    []string
	require      []string
	reports      []string
	record       string
	inspect      []string
	failOnDenial bool
	parallel     bool
	explain      bool // --explain-denials
	ask          bool
	json         bool   // explain only
	timing       bool   // explain only
	caller       string // the Python package's: the file whose functions the box runs; "-" for none
	answer       string // the Python package's: the descriptor that gets the report
}

// runOptions are psb's own options as completion offers them; what their value is decides what is offered for it.
var runOptions = []struct{ name, value, what string }{
	{"allow", "rule", "one more right for this run"},
	{"allow-gap", "gap", "go on without what this host cannot do"},
	{"ask", "", "ask at the terminal before refusing"},
	{"audit", "", "run once where no change and no connection is real, and tell what it would have done"},
	{"explain-denials", "", "tell every refused file exactly, in children and native code, too; slower"},
	{"fail-on-denial", "", "status 123 when something was refused and the program ended with 0"},
	{"help", "", "print a summary"},
	{"inspect", "name", "print what this variable of the program holds at its end, by the program's own word"},
	{"learn", "", "run once, confined, and write what the program needed"},
	{"learn-runner", "file", "learn a test suite: what its runner and tests ask goes into this file"},
	{"learn-unix", "file", "let the learning run connect to this unix socket of the host"},
	{"learn-write", "folder", "let the learning run write below it, too"},
	{"limit", "limit", "one limit for this run"},
	{"parallel", "", "learn without keeping the program on one processor"},
	{"policy", "file", "use this policy; naming it approves it"},
	{"provider", "provider", "how the box is built"},
	{"python", "file", "the interpreter"},
	{"record", "file", "keep what the run did, for psb replay and psb policy prune"},
	{"report", "file", "write how the run ended and what was refused: .json .jsonl .sarif .xml"},
	{"require", "layer", "stop when this layer is missing, too"},
}

// providers of this build; a policy file may name others of the format.
var providers = []string{"auto", "namespaces", "landlock", "none"}

var valueOptions = []string{"policy", "learn-runner", "learn-unix", "learn-write", "allow", "limit", "python", "provider", "allow-gap", "require", "report", "record", "inspect"}

// usageError is a mistake on the command line, with what to do.
type usageError struct{ what, hint string }

func (e *usageError) Error() string { return e.what }

// parseRun reads a run line. It touches nothing, but for --help among psb's options, which ends every journey here: it is printed and the
// refusal to go on says nothing and has status 0.
func parseRun(argv []string) (*runLine, error) {
	r, err := readRun(argv)
	if errors.Is(err, errHelp) {
		status := 0
		root := commandTree(&world{}, &status)
		root.SetOut(os.Stdout)
		if err := root.Help(); err != nil {
			return nil, err
		}
		return nil, &refusal{}
	}
	return r, err
}

var errHelp = errors.New("help was asked for")

func readRun(argv []string) (*runLine, error) {
	r := &runLine{}
	i := 0
	for ; i < len(argv); i++ {
		a := argv[i]
		switch {
		case a == "-":
			r.form, r.args = formStdin, argv[i+1:]
			return r, nil
		case !strings.HasPrefix(a, "-"):
			r.form, r.target, r.args = formScript, a, argv[i+1:]
			return r, nil
		case a == "--":
			return nil, &usageError{"-- stands before no program", "psb SCRIPT, psb -m MODULE, or psb exec -- COMMAND"}
		case a == "--help":
			return nil, errHelp
		case a == "--check-hash-based-pycs":
			if i+1 == len(argv) {
				return nil, &usageError{a + " needs a value", a + " default|always|never"}
			}
			r.pyOpts = append(r.pyOpts, a, argv[i+1])
			i++
		case a == "--version" || strings.HasPrefix(a, "--help-"):
			r.form, r.pyOpts = formInfo, append(r.pyOpts, a)
		case strings.HasPrefix(a, "--"):
			n, err := r.long(argv[i:])
			if err != nil {
				return nil, err
			}
			i += n - 1
		default:
			n, done, err := r.short(argv[i:])
			if err != nil {
				return nil, err
			}
			i += n - 1
			if done {
				r.args = argv[i+1:]
				return r, nil
			}
		}
	}
	return r, nil
}

// flags are the options without a value, by name.
func (r *runLine) flags() map[string]*bool {
	return map[string]*bool{"parallel": &r.parallel, "ask": &r.ask, "explain-denials": &r.explain, "fail-on-denial": &r.failOnDenial, "json": &r.json, "timing": &r.timing}
}

// long reads one psb option; the count is how many words it took.
func (r *runLine) long(words []string) (int, error) {
	name, value, glued := strings.Cut(words[0][2:], "=")
	switch name {
	case "learn":
		r.learn, r.learnFile = true, value
		return 1, namesFile(name, value, glued)
	case "audit":
		r.audit, r.auditFile = true, value
		return 1, namesFile(name, value, glued)
	}
	if p := r.flags()[name]; p != nil {
		*p = true
		return 1, noValue(name, glued)
	}
	known := name == "caller" || name == "answer" // written by the Python package alone: neither help nor completion speak of it
	for _, o := range valueOptions {
		known = known || o == name
	}
	if !known {
		near := nearest(name, slices.Concat([]string{"audit", "learn", "help"}, slices.Sorted(maps.Keys(r.flags())), valueOptions))
		hint := "psb --help"
		if near != "" {
			hint = "did you mean --" + near + "?"
		}
		return 0, &usageError{fmt.Sprintf("unknown option --%s", name), hint}
	}
	n := 1
	if !glued {
		if len(words) < 2 {
			return 0, &usageError{"--" + name + " needs a value", "psb --help"}
		}
		value, n = words[1], 2
	}
	if value == "" {
		return 0, &usageError{"--" + name + " has an empty value", "psb --help"}
	}
	if !glued && len(value) > 1 && value[0] == '-' {
		return 0, &usageError{"--" + name + " needs a value, and what follows is an option: " + plainText(value), "--" + name + "=" + shellQuote(value) + " where that is meant"}
	}
	switch name {
	case "policy":
		r.policy = value
	case "caller":
		r.caller = value
	case "answer":
		r.answer = value
	case "learn-runner":
		r.learn, r.learnRun = true, value
	case "learn-unix":
		r.learnUnix = append(r.learnUnix, value)
	case "learn-write":
		r.learnWrite = append(r.learnWrite, value)
	case "allow":
		r.allow = append(r.allow, value)
	case "limit":
		r.limits = append(r.limits, value)
	case "python":
		r.python = value
	case "provider":
		if !slices.Contains(providers, value) {
			return 0, &usageError{"--provider " + plainText(value) + ": no provider of this build", "one of " + strings.Join(providers, ", ")}
		}
		r.provider = value
	case "allow-gap":
		r.allowGaps = append(r.allowGaps, strings.Split(value, ",")...)
	case "require":
		r.require = append(r.require, strings.Split(value, ",")...)
	case "inspect":
		if !identifier(value) {
			return 0, &usageError{"--inspect " + plainText(value) + ": that is no name of a variable", "--inspect NAME, of a variable at the top of the program; once for each"}
		}
		if !slices.Contains(r.inspect, value) {
			r.inspect = append(r.inspect, value)
		}
	case "record":
		r.record = value
	case "report":
		if _, err := report.FormatOf(value); err != nil {
			return 0, &usageError{"--report " + err.Error(), "--report FILE.json"}
		}
		r.reports = append(r.reports, value)
	}
	return n, nil
}

// namesFile refuses what is taken for a switch where a file can be named: --learn=true would learn into a file of that name.
func namesFile(name, value string, glued bool) error {
	switch hint := "--" + name + ", or --" + name + "=FILE"; {
	case glued && value == "":
		return &usageError{"--" + name + "= names no file", hint}
	case slices.Contains([]string{"false", "no", "off", "0"}, strings.ToLower(value)):
		return &usageError{"--" + name + " takes a file, not " + value, "leave it out; a file of that name is --" + name + "=./" + value}
	case slices.Contains([]string{"true", "yes", "on", "1"}, strings.ToLower(value)):
		return &usageError{"--" + name + " takes a file, not " + value, hint + "; a file of that name is --" + name + "=./" + value}
	}
	return nil
}

func noValue(name string, glued bool) error {
	if glued {
		return &usageError{"--" + name + " takes no value", "psb --help"}
	}
	return nil
}

// short reads one word of CPython's short options, glued forms too; done says that the program is named.
func (r *runLine) short(words []string) (n int, done bool, err error) {
	flags := words[0][1:]
	for j := 0; j < len(flags); j++ {
		c, rest := flags[j], flags[j+1:]
		switch {
		case strings.IndexByte("bBdEiIOPqRsSuvx", c) >= 0:
		case c == 'V':
			r.form = formInfo
		case c == 'h' || c == '?':
			return 0, false, &usageError{"-h: psb's help is psb --help, python's is psb --help-all", "psb --help"}
		case c == 'c' || c == 'm':
			if before := flags[:j]; before != "" {
				r.pyOpts = append(r.pyOpts, "-"+before)
			}
			r.form = map[byte]form{'c': formCode, 'm': formModule}[c]
			if rest != "" {
				r.target = rest
				return 1, true, nil
			}
			if len(words) < 2 {
				return 0, false, &usageError{fmt.Sprintf("-%c needs a value", c), map[byte]string{'c': "psb -c CODE", 'm': "psb -m MODULE"}[c]}
			}
			r.target = words[1]
			return 2, true, nil
		case c == 'W' || c == 'X' || c == 'Q':
			if rest != "" {
				r.pyOpts = append(r.pyOpts, words[0])
				return 1, false, nil
			}
			if len(words) < 2 {
				return 0, false, &usageError{fmt.Sprintf("-%c needs a value", c), "psb --help"}
			}
			r.pyOpts = append(r.pyOpts, words[0], words[1])
			return 2, false, nil
		default:
			return 0, false, &usageError{fmt.Sprintf("unknown python option -%c", c), "psb --help"}
		}
	}
	r.pyOpts = append(r.pyOpts, words[0])
	return 1, false, nil
}

// nearest gives the closest of names to a mistyped word, "" when none is close.
func nearest(word string, names []string) string {
	best, at := "", 1+len(word)/3
	for _, n := range names {
		if d := distance(word, n); d <= at {
			best, at = n, d-1
		}
	}
	return best
}

func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		prev := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			prev, row[j] = row[j], min(row[j]+1, row[j-1]+1, prev+cost)
		}
	}
	return row[len(b)]
}

// interpreterArgs is what python gets after its own name.
func (r *runLine) interpreterArgs(script string) []string {
	out := append([]string(nil), r.pyOpts...)
	switch r.form {
	case formStdin:
		out = append(out, "-")
	case formScript:
		out = append(out, script)
	case formModule:
		out = append(out, "-m", r.target)
	case formCode:
		out = append(out, "-c", r.target)
	}
	return append(out, r.args...)
}

// apart: the interpreter's own flags keep PYTHONPATH or site.py from it.
func (r *runLine) apart() bool {
	for _, o := range r.pyOpts {
		if !strings.HasPrefix(o, "-") || strings.HasPrefix(o, "--") {
			continue // the value of the one before, or a word that is none of these
		}
		flags := o
		if at := strings.IndexAny(o, "WXQ"); at > 0 { // what follows is its value: -IWerror
			flags = o[:at]
		}
		if strings.ContainsAny(flags, "IES") {
			return true
		}
	}
	return false
}

// afterOptions puts words behind psb's own options and before everything else.
func afterOptions(args []string, words ...string) []string {
	at := 0
	for at < len(args) && strings.HasPrefix(args[at], "--") {
		n, err := (&runLine{}).long(args[at:])
		if err != nil {
			break
		}
		at += n
	}
	return slices.Concat(args[:at], words, args[at:])
}

// needed are the layers that a run must have beside those of the policy. Who wants to fail by what is refused, or to see what the program says of
// itself, must hear of it.
func (o options) needed() []string {
	if o.failOnDenial || len(o.inspect) > 0 {
		return append(slices.Clone(o.require), "notify")
	}
	return o.require
}
