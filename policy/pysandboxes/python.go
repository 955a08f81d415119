package pysandboxes

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"psb/policy"
)

// imports converts a list of modules.
func (r *reader) imports(list string) {
	for _, name := range commas(list) {
		if strings.Contains(name, ".") {
			r.remark("%s=%s: a name with a dot never matched; here it would allow that module: add it where it is meant", r.key, name)
			continue
		}
		r.add(policy.Rule{Op: policy.OpImport, Pattern: policy.Pattern{Text: name}})
	}
}

// doors are the functions of the old registry that reach the world through another one, which is what psb asks a line for.
var doors = map[string]string{
	"subprocess.run": "subprocess.Popen", "subprocess.call": "subprocess.Popen", "subprocess.check_call": "subprocess.Popen", "subprocess.check_output": "subprocess.Popen",
	"subprocess.getoutput": "subprocess.Popen", "subprocess.getstatusoutput": "subprocess.Popen", "subprocess._fork_exec": "_posixsubprocess.fork_exec",
	"multiprocessing.BaseProcess.start": "multiprocessing.Process.start", "multiprocessing.process.BaseProcess.start": "multiprocessing.Process.start",
	"pickle._loads": "pickle.loads", "pickle._load": "pickle.load", "pickle._Unpickler": "pickle.Unpickler", "eval": "builtins.eval", "exec": "builtins.exec", "compile": "builtins.compile",
}

// facades are the modules that programs use, by those in C.
var facades = map[string]string{"posix": "os", "_pickle": "pickle", "_signal": "signal", "_ctypes": "ctypes", "_posixshmem": "multiprocessing"}

// api converts ALLOW:x,y and DENY:x.
func (r *reader) api(text string) {
	verb, list, ok := strings.Cut(text, ":")
	deny := strings.EqualFold(verb, "DENY")
	if !ok || !deny && !strings.EqualFold(verb, "ALLOW") {
		r.remark("python-api=%s: not understood", text)
		return
	}
	for _, name := range commas(list) {
		as := name
		if module, function, ok := strings.Cut(name, "."); ok && facades[module] != "" {
			as = facades[module] + "." + function
		}
		if door := doors[as]; door != "" {
			r.remark("python-api=%s: psb asks for %s, which it calls, and so for all that call it", name, door)
			as = door
		}
		if _, err := policy.ParseAccess("call " + as); err != nil {
			r.remark("python-api: %s", err)
			continue
		}
		r.add(policy.Rule{Op: policy.OpCall, Pattern: policy.Pattern{Text: as}, Deny: deny})
	}
}

// eval converts one key of evaluated text; it says whether there is such a one.
func (r *reader) eval(key, value string) bool {
	key, profile, named := strings.Cut(strings.TrimPrefix(key, "eval-"), ":")
	own := strings.ReplaceAll(key, "-", "_")
	if named && !policy.EvalProfile(profile) {
		r.remark("eval-%s: %q cannot name a profile here", key, profile)
		return true
	}
	switch own {
	case "syntax", "call", "attribute", "import", "magic":
		names, deny := strings.CutPrefix(value, "DENY:")
		r.profile(profile)
		for _, name := range commas(strings.TrimPrefix(names, "ALLOW:")) {
			object := policy.EvalObject(profile, own, name)
			r.add(policy.Rule{Op: policy.OpEval, Pattern: policy.Pattern{Text: object}, Deny: deny})
		}
	case "namespace":
		r.evalValue(profile, own, value, strconv.Quote(value))
	case "timeout":
		r.evalValue(profile, own, value, strconv.Quote(strings.ReplaceAll(value, "_", "")))
	case "max_alloc":
		r.evalValue(profile, own, value, strconv.Quote(decimalSize(value)))
	case "max_iterations", "max_call_depth", "max_depth", "max_nodes":
		r.evalValue(profile, own, value, strings.ReplaceAll(value, "_", ""))
	case "max_leaked_threads":
		r.remark("eval-max-leaked-threads: text runs in a process that ends on time; the line is not needed")
	default:
		return false
	}
	return true
}

// profile makes a table for a profile, be it without a line of its own.
func (r *reader) profile(name string) map[string]string {
	if r.evals == nil {
		r.evals = map[string]map[string]string{}
	}
	if r.evals[name] == nil {
		r.evals[name] = map[string]string{}
	}
	return r.evals[name]
}

// evalValue takes a value that a profile could hold; another is named.
func (r *reader) evalValue(profile, key, value, written string) {
	if _, err := policy.Parse("", []byte("[python.eval]\n"+key+" = "+written+"\n")); err != nil {
		_, what, _ := strings.Cut(strings.Split(err.Error(), "\n")[0], ": ")
		r.remark("%s=%s: %s", r.key, value, what)
		return
	}
	into := r.profile(profile)
	if old, said := into[key]; said && old != written {
		r.remark("%s=%s: said twice, differently; the first counts", r.key, value)
		return
	}
	into[key] = written
}

// evalTables are the profiles with their values; the names of their lists are rules.
func (r *reader) evalTables() []byte {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(r.evals)) {
		fmt.Fprintf(&b, "%s\n", strings.TrimSuffix("[python.eval."+name, ".")+"]")
		for _, key := range slices.Sorted(maps.Keys(r.evals[name])) {
			fmt.Fprintf(&b, "%s = %s\n", key, r.evals[name][key])
		}
	}
	return []byte(b.String())
}

// bounded leaves out what lets text be evaluated without bounds where other lines bound it: together they were an error there, too.
func (r *reader) bounded() {
	raw := func(l lined) bool {
		c, _ := policy.CategoryOf(l.rule.Pattern.Text)
		return l.rule.Op == policy.OpCall && !l.rule.Deny && (l.rule.Pattern.Text == "dynamic-code" || c.Name == "dynamic-code")
	}
	if len(r.evals) == 0 {
		return
	}
	for _, l := range r.rules {
		if r.line = l.line; raw(l) {
			r.remark("%s: it takes the bounds of the eval- lines away; left out", l.rule)
		}
	}
	r.rules = slices.DeleteFunc(r.rules, raw)
	i := slices.IndexFunc(r.rules, func(l lined) bool { return l.rule.Op == policy.OpCall && !l.rule.Deny && l.rule.Pattern.Text == "*" })
	if i >= 0 {
		r.line = r.rules[i].line
		r.remark("call *: without evaluated text, which the eval- lines bound")
		r.rules = append(r.rules, lined{policy.Rule{Op: policy.OpCall, Pattern: policy.Pattern{Text: "dynamic-code"}, Deny: true}, r.line})
	}
}

// outside leaves out what only the layer inside Python holds, where the old file turned that off.
func (r *reader) outside() {
	held := func(l lined) bool {
		return l.rule.Op == policy.OpImport || l.rule.Op == policy.OpCall || l.rule.Op == policy.OpEval
	}
	if r.shimOff == 0 || !slices.ContainsFunc(r.rules, held) && len(r.evals) == 0 {
		return
	}
	r.line = r.shimOff
	r.remark("py-sandbox: it is off, and so nothing holds the lines on imports, calls and evaluated text; they are left out")
	r.rules, r.evals = slices.DeleteFunc(r.rules, held), nil
}

// commas takes a list apart.
func commas(list string) []string {
	var out []string
	for _, name := range strings.Split(list, ",") {
		if name = unquote(strings.TrimSpace(name)); name != "" {
			out = append(out, name)
		}
	}
	return out
}

// decimalSize writes a size whose units were powers of ten as bytes.
func decimalSize(text string) string {
	text = strings.ReplaceAll(text, "_", "")
	for unit, factor := range map[string]uint64{"KB": 1e3, "MB": 1e6, "GB": 1e9} {
		if n, ok := strings.CutSuffix(strings.ToUpper(text), unit); ok {
			if v, err := strconv.ParseUint(strings.TrimSpace(n), 10, 32); err == nil {
				return strconv.FormatUint(v*factor, 10)
			}
		}
	}
	return text
}
