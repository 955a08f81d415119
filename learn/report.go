package learn

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"psb/policy"
)

// Report is what a learning run tells its user beside the rules.
type Report struct {
	Added    []Grant                 // set by the caller to what was really missing
	Floor    map[policy.Access]Errno // tried and never granted; "" when the program had it all the same
	Calls    map[string]int          // floor calls refused, with how often
	Refused  map[policy.Access]Errno // refused by the box or the system, not granted
	Left     []string                // seen, and left out on purpose: one sentence each, sorted
	Lookups  int                     // objects that were not there
	Bytecode int                     // byte-code files not granted
	Unset    []string                // variables read by name that are not set, sorted
	NotYet   map[string]int          // what this build does not enforce, "kind/noun" or "kind", with how many were seen
	Peak     int                     // most processes at one time; set by the caller
	Partial  string                  // why the run did not end by itself; set by the caller
	Status   int                     // of a program that ended by itself, and failed; set by the caller
}

// Ended takes over how the run ended.
func (r *Report) Ended(e Ended) {
	r.Peak, r.Partial = e.Peak, e.Partial
	if e.Reason == "exit" {
		r.Status = e.Status
	}
}

// Lines words the report, marked lines first, for a terminal: the caller puts its name before each.
func (r *Report) Lines() []string {
	var out []string
	if r.Partial != "" {
		out = append(out, "partial run: "+r.Partial)
	}
	out = append(out, r.learned()...)
	out = append(out, accessLines("never granted", r.Floor)...)
	for _, name := range slices.Sorted(maps.Keys(r.Calls)) {
		out = append(out, "never granted: call "+name+times(r.Calls[name]))
	}
	out = append(out, accessLines("refused while learning", r.Refused)...)
	for _, l := range r.Left {
		out = append(out, "left out: "+l)
	}
	if len(r.Unset) > 0 {
		out = append(out, "not set: "+few(r.Unset, 12))
	}
	if r.Lookups > 0 {
		out = append(out, fmt.Sprintf("not found: %s", count(r.Lookups, "name")))
	}
	if r.Bytecode > 0 {
		out = append(out, fmt.Sprintf("byte code: %s in __pycache__ not granted, Python works without", count(r.Bytecode, "file")))
	}
	if r.Peak > 0 {
		out = append(out, "at most "+count(r.Peak, "process")+" at a time")
	}
	if l := r.NotLearned(); l != "" {
		out = append(out, l)
	}
	if r.Status != 0 {
		out = append(out, fmt.Sprintf("the program ended with status %d: what it would have needed after that is not in the policy", r.Status))
	}
	return out
}

// learned tells the rules, those that ask for most care first: marked ones, others with what is to be thought of, harmless ones; then how
// many there are of each tier.
func (r *Report) learned() []string {
	var lines [3][]string
	count := map[policy.Tier]int{}
	said := map[policy.Op]int{}
	for _, g := range r.Added {
		if said[g.Access.Op]++; onlySaid(g.Access.Op) && said[g.Access.Op] > mostSaid {
			count[g.Tier]++
			continue
		}
		at, care := 2, ""
		switch {
		case g.Alert != "":
			at = 0
		case g.Tier > policy.TierNormal:
			at, care = 1, " ("+g.Risk+")"
		}
		lines[at] = append(lines[at], strings.TrimRight(fmt.Sprintf("learned: %s %s%s  # %s", g.Access.Op, g.Text, care, g.Why()), " #"))
		count[g.Tier]++
	}
	out := slices.Concat(lines[:]...)
	for _, op := range []policy.Op{policy.OpImport, policy.OpCall, policy.OpEval} {
		if more := said[op] - mostSaid; more > 0 {
			out = append(out, fmt.Sprintf("learned: … and %d more of %s", more, op))
		}
	}
	if said := r.reported(); said != "" {
		out = append(out, said)
	}
	if tiers := policy.Tally(count); tiers != "" {
		out = append(out, "learned by risk: "+tiers)
	}
	return out
}

// mostSaid is how many rules of one kind are told one by one that rest on the program's own word: it may say as much as it likes.
const mostSaid = 25

// onlySaid are the operations that nobody but Python's own process tells of.
func onlySaid(op policy.Op) bool {
	return op == policy.OpImport || op == policy.OpCall || op == policy.OpEval
}

// reported says which of the rules rest on Python's word alone.
func (r *Report) reported() string {
	n := map[policy.Op]int{}
	for _, g := range r.Added {
		n[g.Access.Op]++
	}
	var parts []string
	for _, of := range []struct {
		op   policy.Op
		noun string
	}{{policy.OpImport, "import"}, {policy.OpCall, "call"}, {policy.OpEval, "name"}} {
		switch {
		case n[of.op] == 0:
		case of.op == policy.OpEval:
			parts = append(parts, count(n[of.op], of.noun)+" of evaluated text")
		default:
			parts = append(parts, count(n[of.op], of.noun))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "reported by Python, which alone asks for them: " + strings.Join(parts, ", ")
}

// NotLearned words what was seen and cannot be enforced yet; "" when there is nothing.
func (r *Report) NotLearned() string {
	what := map[string][]string{}
	for _, key := range slices.Sorted(maps.Keys(r.NotYet)) {
		kind, noun, _ := strings.Cut(key, "/")
		if noun != "" {
			what[kind] = append(what[kind], count(r.NotYet[key], noun))
		} else if what[kind] == nil {
			what[kind] = []string{}
		}
	}
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(what)) {
		if len(what[kind]) > 0 {
			kind += " (" + strings.Join(what[kind], ", ") + ")"
		}
		parts = append(parts, kind)
	}
	if len(parts) == 0 {
		return ""
	}
	return "not learned yet: " + strings.Join(parts, ", ")
}

func accessLines(what string, m map[policy.Access]Errno) []string {
	var out []string
	for a, e := range m {
		l := what + ": " + a.String()
		if e != "" {
			l += " (" + string(e) + ")"
		}
		out = append(out, l)
	}
	slices.Sort(out)
	return out
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "s") {
		return fmt.Sprintf("%d %ses", n, noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func times(n int) string {
	if n < 2 {
		return ""
	}
	return fmt.Sprintf(" (%d times)", n)
}

// few joins the first names and counts the rest: a program may read as many as it likes.
func few(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
