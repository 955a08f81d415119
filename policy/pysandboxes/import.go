package pysandboxes

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"psb/policy"
)

// Kind is what stands at a path.
type Kind int

// The kinds that matter for a rule.
const (
	Absent  Kind = iota
	File         // one that cannot be run
	Program      // one that can
	Folder
)

// Imported is the policy, and what of the old file is not in it or means something else.
type Imported struct {
	Text    []byte
	Remarks []policy.Problem // by line
}

// Import converts the text of one file. name is the path that remarks show; m.Project is the folder the policy will stand in; look says
// what stands at an absolute path. It is an error when nothing at all could be converted. The result parses.
func Import(name string, src []byte, m policy.Macros, look func(path string) Kind) (Imported, error) {
	r := &reader{name: name, m: m, look: look}
	for i, line := range strings.Split(strings.ReplaceAll(string(src), "\r\n", "\n"), "\n") {
		r.line = i + 1
		r.read(strings.TrimSpace(strings.TrimPrefix(line, "\ufeff")))
	}
	r.hide()
	r.bounded()
	r.outside()
	if r.understood == 0 {
		if p, err := policy.Parse(name, src); err == nil && p.Version+len(p.Tables) > 0 {
			return Imported{Remarks: r.sorted()}, errors.New("it is a policy of psb already")
		}
		return Imported{Remarks: r.sorted()}, errors.New("no line of it is a rule of pysandboxes")
	}
	text, err := r.write()
	return Imported{text, r.sorted()}, err
}

// reader goes through the lines.
type reader struct {
	name       string
	m          policy.Macros
	look       func(string) Kind
	line       int
	key        string
	understood int // lines with a key that pysandboxes has

	reason   []string // comments on lines of their own, for the rule below
	rules    []lined
	exposed  []string // folders, as the policy writes them
	ignored  []glob
	includes []string
	locked   bool
	shimOff  int // the line that turned the layer inside Python off; 0 for none
	provider string
	limits   map[string]string
	evals    map[string]map[string]string // values of evaluated text as the policy writes them, by profile and key
	remarks  []policy.Problem
}

// lined is a rule with the line it comes from.
type lined struct {
	rule policy.Rule
	line int
}

func (r *reader) remark(format string, args ...any) {
	r.remarks = append(r.remarks, policy.Problem{File: r.name, Line: r.line, What: fmt.Sprintf(format, args...)})
}

func (r *reader) sorted() []policy.Problem {
	slices.SortStableFunc(r.remarks, func(a, b policy.Problem) int { return a.Line - b.Line })
	return r.remarks
}

// read converts one line.
func (r *reader) read(line string) {
	line, comment := cutComment(line)
	switch {
	case line == "" && comment == "":
		r.reason = nil
		return
	case line == "":
		if !strings.HasPrefix(comment, "<") && !strings.HasPrefix(comment, "/") { // the marks of generated parts
			r.reason = append(r.reason, comment)
		}
		return
	case strings.HasPrefix(line, "{"):
		r.remark("template text: left out, as pysandboxes does")
		return
	}
	if comment != "" {
		r.reason = []string{comment}
	}
	defer func() { r.reason = nil }()
	if rest, ok := strings.CutPrefix(line, "include"); ok && (strings.HasPrefix(rest, " ") || strings.HasPrefix(rest, `"`) || strings.HasPrefix(rest, "\t")) {
		r.understood++
		r.include(unquote(strings.TrimSpace(rest)))
		return
	}
	key, value, ok := strings.Cut(line, "=")
	key = strings.TrimSpace(key)
	if !ok {
		r.remark("%q is no key=value", line)
		return
	}
	if r.convert(key, strings.TrimSpace(value)) {
		r.understood++
	} else {
		r.remark("%s: no key of pysandboxes", key)
	}
}

// convert handles one key; it says whether there is such a one.
func (r *reader) convert(key, value string) bool {
	r.key = key
	base, option, dotted := strings.Cut(key, ".")
	switch {
	case dotted && slices.Contains([]string{"bwrap", "unshare", "firejail", "qemu"}, base):
		r.option(base, option, value)
		return true
	case strings.HasPrefix(key, "eval-"):
		return r.eval(key, value)
	}
	switch key {
	case "env", "set-env":
		r.env(value)
	case "python-import", "import":
		r.imports(value)
	case "python-api":
		r.api(value)
	case "unenv", "unset-env":
		r.add(policy.Rule{Op: policy.OpEnv, Pattern: policy.Pattern{Text: value}, Deny: true})
	case "expose-ro":
		r.expose(unquote(value), "", policy.OpRead, policy.OpExec)
	case "expose-rw":
		r.expose(unquote(value), "", policy.OpWrite)
	case "ro-bind", "bind":
		from, to, _ := strings.Cut(value, ",")
		rights := []policy.Op{policy.OpRead, policy.OpExec}
		if key == "bind" {
			rights = []policy.Op{policy.OpWrite}
		}
		r.expose(unquote(strings.TrimSpace(from)), unquote(strings.TrimSpace(to)), rights...)
	case "ignore":
		r.ignored = append(r.ignored, glob{unquote(value), r.line, r.why()})
	case "net":
		r.net(value)
	case "learn":
		r.learn(value)
	case "py-sandbox":
		if value == "false" || value == "0" || value == "none" {
			r.shimOff = r.line
		}
	case "os-sandbox":
		r.os(value)
	case "port":
		r.remark("port: psb has no daemon; the line is not needed")
	case "remote-result-mode", "remote-result-guard":
		r.remark("%s: psb runs whole programs, so no results are handed over; the line is not needed", key)
	default:
		return false
	}
	return true
}

func (r *reader) include(path string) {
	if path == "" {
		r.remark("include: names no file")
		return
	}
	to := path + ".toml"
	r.includes = append(r.includes, "?"+strings.TrimPrefix(to, "./"))
	what := fmt.Sprintf("include: %s is in the old form, too: psb policy import %s -o %s", path, path, to)
	if rel := strings.TrimPrefix(path, "./"); strings.Contains(rel, "/") && !strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "~") {
		what += "; it was looked for from the working folder, and is from the policy's now"
	}
	r.remark("%s", what)
}

func (r *reader) learn(value string) {
	switch strings.ToLower(value) {
	case "false", "no", "off", "0", "none":
		r.locked = true
	case "true", "yes", "on", "1", "":
		r.remark("learn: no run learns by itself; psb --learn adds what is missing")
	default:
		r.remark("learn: no run learns by itself; psb --learn=%s adds what is missing", value)
	}
}

func (r *reader) os(value string) {
	name := value
	if rest, ok := strings.CutPrefix(value, "${OS_SANDBOX:-"); ok {
		name = strings.TrimSuffix(rest, "}")
	}
	switch name {
	case "auto", "":
	case "unshare":
		r.provider = "namespaces"
	case "none", "subprocess":
		r.remark("os-sandbox=%s: a file cannot take the walls away; psb --provider none does, for one run", name)
	case "landlock":
		r.remark("os-sandbox=landlock: psb holds Landlock beside more; where only that can be had: psb --provider landlock")
	default:
		r.remark("os-sandbox=%s: psb has walls of its own; the line is not needed", name)
	}
}

// why are the comments of the line, joined.
func (r *reader) why() string { return strings.Join(r.reason, " ") }

// add takes a rule that could stand in a file; another is named.
func (r *reader) add(rule policy.Rule) {
	rule.Why = r.why()
	if risk := policy.RiskOf(rule, r.m); risk.Mark && !strings.HasPrefix(rule.Why, "!") {
		rule.Why = strings.TrimSuffix("! "+risk.Why+"; "+rule.Why, "; ")
	}
	if _, _, err := policy.Edit(nil, []policy.Rule{rule}); err != nil {
		r.remark("%s", strings.ReplaceAll(err.Error(), "\n", "; "))
		return
	}
	r.rules = append(r.rules, lined{rule, r.line})
}

// cutComment takes a comment off: what stands behind a "#" outside quotes that begins the line or a word.
func cutComment(line string) (rest, comment string) {
	var quote byte
	for i := range len(line) {
		switch c := line[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '#' && (i == 0 || line[i-1] == ' ' || line[i-1] == '\t'):
			return strings.TrimSpace(line[:i]), strings.TrimSpace(line[i+1:])
		}
	}
	return line, ""
}

// unquote takes quotes off that stand around the whole.
func unquote(s string) string {
	if len(s) > 1 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1]
	}
	return s
}
