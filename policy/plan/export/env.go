package export

import (
	"slices"
	"strings"

	"psb/policy"
	"psb/policy/plan"
)

// fixed is a variable whose text the policy, or psb, says.
type fixed struct {
	name  string
	parts []policy.TextPart
	rule  *policy.Rule // nil: psb's own
}

// literal is the text, where it depends on no variable of the host.
func (f fixed) literal() (string, bool) {
	var b strings.Builder
	for _, p := range f.parts {
		if p.Name != "" {
			return "", false
		}
		b.WriteString(p.Text)
	}
	return b.String(), true
}

// passed is a variable, or a pattern of names, whose value is the host's.
type passed struct {
	pattern string
	rule    *policy.Rule // nil: always passed
}

// environment is what a program sees of variables, without a value of the host's.
type environment struct {
	before []fixed  // what a passed variable of the same name replaces
	pass   []passed // the host's values
	after  []fixed  // what replaces a passed one
	never  []policy.Rule
	tmpdir bool // TMPDIR is there where the host has it, and names the private space
}

// environment takes the policy's [env] apart as plan does it: rules in order, each over those before it, and a refusal over everything.
func (m *maker) environment() (environment, error) {
	e := environment{tmpdir: true}
	for _, name := range plan.AlwaysEnvNames() {
		if name != "TMPDIR" {
			e.pass = append(e.pass, passed{name, nil})
		}
	}
	rules := m.plan.Policy.Rules
	for i := range rules {
		r := &rules[i]
		switch {
		case r.Op != policy.OpEnv:
		case r.Deny:
			e.never = append(e.never, *r)
		case r.Value == nil:
			e.pass = append(e.pass, passed{r.Pattern.Text, r})
			e.tmpdir = e.tmpdir && !plan.MatchesName(r.Pattern.Text, "TMPDIR")
		default:
			f, err := m.fixed(r)
			if err != nil {
				return e, err
			}
			replaced := slices.ContainsFunc(rules[i+1:], func(o policy.Rule) bool {
				return o.Op == policy.OpEnv && !o.Deny && o.Value == nil && plan.MatchesName(o.Pattern.Text, f.name)
			})
			if replaced {
				e.before = append(e.before, f)
			} else {
				e.after = append(e.after, f)
			}
			e.tmpdir = e.tmpdir && f.name != "TMPDIR"
		}
	}
	if m.plan.Command.Python {
		e.before = append([]fixed{{name: "PYTHONDONTWRITEBYTECODE", parts: []policy.TextPart{{Text: "1"}}}}, e.before...)
	}
	refused := func(f fixed) bool {
		return slices.ContainsFunc(e.never, func(r policy.Rule) bool { return plan.MatchesName(r.Pattern.Text, f.name) }) && f.rule != nil
	}
	e.before, e.after = slices.DeleteFunc(e.before, refused), slices.DeleteFunc(e.after, refused)
	return e, nil
}

// fixed gives a text as it was written: what the plan holds has values of the host in it.
func (m *maker) fixed(r *policy.Rule) (fixed, error) {
	text := *r.Value
	for _, w := range m.req.Written.Rules {
		if w.Op == policy.OpEnv && w.Value != nil && w.Origin == r.Origin && w.Pattern.Text == r.Pattern.Text {
			text = *w.Value
			parts, err := policy.TextParts(text, m.req.Macros)
			return fixed{r.Pattern.Text, parts, r}, err
		}
	}
	return fixed{r.Pattern.Text, []policy.TextPart{{Text: text}}, r}, nil
}

// denied says whether a false line refuses a name.
func (e environment) denied(name string) bool {
	return slices.ContainsFunc(e.never, func(r policy.Rule) bool { return plan.MatchesName(r.Pattern.Text, name) })
}
