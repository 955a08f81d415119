package export

import (
	"slices"
	"strings"

	"psb/policy"
	"psb/policy/plan"
)

// passedName is a variable whose value only the host knows.
type passedName struct {
	name string // may be a glob
	what string // as remarks name it
}

// texts gives the variables that a file may hold with their text, and those whose value is the host's. Text that depends on a variable of the
// host is left out and named. where is the place in which the user could add it.
func (m *maker) texts(where string) (map[string]string, []passedName, error) {
	e, err := m.environment()
	if err != nil {
		return nil, nil, err
	}
	texts := map[string]string{}
	put := func(list []fixed) {
		for _, f := range list {
			if text, ok := f.literal(); ok {
				texts[f.name] = text
			} else {
				m.lost(line("env", *f.rule), "its text depends on a variable of the host: add it to %s", where)
			}
		}
	}
	put(e.before)
	for _, kv := range m.plan.Env {
		if name, value, _ := strings.Cut(kv, "="); m.onlyAlways(name) {
			texts[name] = value
		}
	}
	var names []passedName
	for _, p := range e.pass {
		if p.rule != nil {
			names = append(names, passedName{p.pattern, line("env", *p.rule)})
		}
	}
	put(e.after)
	return texts, names, nil
}

// onlyAlways says that a variable is there because every program gets it, not because a line passes or sets it.
func (m *maker) onlyAlways(name string) bool {
	ruled := slices.ContainsFunc(m.plan.Policy.Rules, func(r policy.Rule) bool {
		return r.Op == policy.OpEnv && plan.MatchesName(r.Pattern.Text, name)
	})
	return plan.AlwaysEnv(name) && !ruled
}
