package pysandboxes

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"psb/policy"
)

// write makes the policy. Rights that a refusal takes away are named.
func (r *reader) write() ([]byte, error) {
	var rights, refusals []policy.Rule
	for _, l := range r.rules {
		if l.rule.Deny {
			refusals = append(refusals, l.rule)
		} else {
			rights = append(rights, l.rule)
		}
	}
	rights = r.once(rights)
	first, _, err := policy.Edit(append(policy.New(""), r.head()...), rights)
	if err != nil {
		return nil, err
	}
	second, _, err := policy.Edit(append(r.shim(), r.evalTables()...), refusals)
	if err != nil {
		return nil, err
	}
	m, err := policy.Merge([]policy.Source{{Name: "rights", Bytes: first}, {Name: "refusals", Bytes: second}})
	if err != nil {
		return nil, err
	}
	for _, x := range m.Refused {
		for _, l := range r.rules {
			if l.rule.Op == x.Right.Op && l.rule.Pattern.Text == x.Right.Pattern.Text {
				r.line = l.line
				r.remark("%s: a line of this file refuses it: %s", l.rule, x.By)
				break
			}
		}
	}
	if r.locked { // last: nothing may be added to a locked file
		m.Text = bytes.Replace(m.Text, []byte("\nversion = 1\n"), []byte("\nversion = 1\nlocked = true\n"), 1)
	}
	return policy.Format("the policy", m.Text)
}

// once keeps the first of several values of one variable, and the first folder shown at one place.
func (r *reader) once(rules []policy.Rule) []policy.Rule {
	seen := map[string]policy.Rule{}
	var out []policy.Rule
	for _, rule := range rules {
		key := string(rule.Op) + " " + rule.Pattern.Text
		if old, ok := seen[key]; ok {
			if rule.Op == policy.OpEnv && (old.Value == nil) != (rule.Value == nil) || old.Value != nil && rule.Value != nil && *old.Value != *rule.Value ||
				old.Pattern.From != rule.Pattern.From {
				r.line = r.lineOf(rule)
				r.remark("%s: said twice, differently; the first counts", rule)
			}
			continue
		}
		seen[key] = rule
		out = append(out, rule)
	}
	return out
}

// lineOf is the line of the last rule on an object.
func (r *reader) lineOf(rule policy.Rule) int {
	line := 0
	for _, l := range r.rules {
		if l.rule.Op == rule.Op && l.rule.Pattern.Text == rule.Pattern.Text {
			line = l.line
		}
	}
	return line
}

// head are the lines that are no rules.
func (r *reader) head() []byte {
	var b strings.Builder
	if len(r.includes) > 0 {
		b.WriteString("include = [")
		for i, inc := range r.includes {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(policy.Quote(inc))
		}
		b.WriteString("]\n")
	}
	if r.provider != "" {
		fmt.Fprintf(&b, "[sandbox]\nprovider = %s\n", policy.Quote(r.provider))
	}
	for i, name := range policy.LimitNames() {
		if i == 0 && len(r.limits) > 0 {
			b.WriteString("[limits]\n")
		}
		if v := r.limits[name]; v != "" {
			fmt.Fprintf(&b, "%s = %s\n", name, policy.Quote(v))
		}
	}
	return slices.Concat([]byte(b.String()), r.shim(), r.evalTables())
}

// shim turns psb's code inside Python off, where the old file did so with pysandboxes'.
func (r *reader) shim() []byte {
	if r.shimOff > 0 {
		return []byte("[python]\nshim = false\n")
	}
	return nil
}
