package policy

import (
	"slices"
	"strconv"
	"strings"
)

// values compares what is no rule: locks, limits, the sandbox, the shim, profiles of evaluated text.
func (c *comparison) values() {
	a, b := c.last.Policy, c.next.Policy
	switch {
	case a.Locked && !b.Locked:
		c.value(More, "removed", "locked", "", "", a.LockedAt, "", Origin{}, "anybody may add rights")
	case b.Locked && !a.Locked:
		c.value(Fewer, "added", "locked", "", "", b.LockedAt, "", Origin{}, "")
	}
	switch {
	case b.Learn != "" && a.Learn != b.Learn:
		c.value(More, kindOf(a.Learn), "learn", "", quoteTOML(b.Learn), b.learnAt, a.Learn, a.learnAt, "each run may add rights")
	case a.Learn != b.Learn:
		c.value(Fewer, "removed", "learn", "", quoteTOML(a.Learn), a.learnAt, "", Origin{}, "")
	}
	switch {
	case a.Shim && !b.Shim:
		c.value(More, "changed", "shim", "", "false", b.shimAt, "", Origin{}, "runs without psb's code inside Python")
	case b.Shim && !a.Shim:
		c.value(Fewer, "changed", "shim", "", "true", b.shimAt, "", Origin{}, "")
	}
	c.limits()
	c.sandbox()
	c.evals()
}

func kindOf(was string) string {
	if was == "" {
		return "added"
	}
	return "changed"
}

// value adds a difference that is none of a rule. was is what the other policy has; "" for nothing.
func (c *comparison) value(e Effect, kind, op, object, value string, o Origin, was string, wasAt Origin, why string) {
	d := Difference{Effect: e, Kind: kind, Op: op, Object: object, Value: value, Origin: o}
	if e == More {
		d.Risk = Risk{Tier: TierWarn, Why: why}
	}
	if was != "" {
		d.Others = []Said{{saying(op, object, was), wasAt}}
	}
	c.out = append(c.out, d)
}

func (c *comparison) limits() {
	for _, name := range LimitNames() {
		a, b := c.last.Limits[name], c.next.Limits[name]
		higher := b.Bytes > a.Bytes || b.Count > a.Count || b.CPUs > a.CPUs || b.Time > a.Time
		lower := b.Bytes < a.Bytes || b.Count < a.Count || b.CPUs < a.CPUs || b.Time < a.Time
		switch {
		case a.Name == "" && b.Name != "":
			c.value(Fewer, "added", "limit", name, quoteTOML(b.Text), b.Origin, "", Origin{}, "")
		case a.Name != "" && b.Name == "":
			c.value(More, "removed", "limit", name, quoteTOML(a.Text), a.Origin, "", Origin{}, "no limit any more")
		case higher:
			c.value(More, "changed", "limit", name, quoteTOML(b.Text), b.Origin, quoteTOML(a.Text), a.Origin, "a higher limit")
			c.out[len(c.out)-1].Risk.Tier = TierNormal
		case lower:
			c.value(Fewer, "changed", "limit", name, quoteTOML(b.Text), b.Origin, quoteTOML(a.Text), a.Origin, "")
		}
	}
}

func (c *comparison) sandbox() {
	a, b := c.last.Sandbox, c.next.Sandbox
	at := func(s Sandbox, key string) Origin { return s.Origin[key] }
	quoted := func(s string) string {
		if s == "" {
			return ""
		}
		return quoteTOML(s)
	}
	if a.Python != b.Python {
		o, value := at(b, "python"), quoted(b.Python)
		if b.Python == "" {
			o = at(a, "python")
		}
		c.value(More, "changed", "sandbox", "python", value, o, quoted(a.Python), at(a, "python"), "another interpreter")
	}
	weak := func(p string) int {
		return max(0, slices.Index([]string{"", "landlock", "bwrap", "none"}, p)) // auto and namespaces are the strongest
	}
	if wa, wb := weak(a.Provider), weak(b.Provider); wb > wa {
		c.value(More, kindOf(a.Provider), "sandbox", "provider", quoted(b.Provider), at(b, "provider"), quoted(a.Provider), at(a, "provider"), "fewer walls")
		if b.Provider == "none" {
			c.out[len(c.out)-1].Risk = Risk{Tier: TierNever, Why: "no walls at all"}
		}
	} else if wb < wa {
		c.value(Fewer, "changed", "sandbox", "provider", quoted(b.Provider), at(b, "provider"), quoted(a.Provider), at(a, "provider"), "")
	}
	c.lists("require", requires(b), requires(a), at(b, "require"), at(a, "require"), "a layer that may be missing")
	c.lists("allow_gaps", a.AllowGaps, b.AllowGaps, at(a, "allow_gaps"), at(b, "allow_gaps"), "goes on without what this host cannot do")
}

// requires are the layers that must hold.
func requires(s Sandbox) []string {
	if s.Require == nil {
		return DefaultLayers()
	}
	return s.Require
}

// lists compares two lists of which each name that is in the second alone is a right more, each in the first alone one fewer. strict and
// lax are where they stand.
func (c *comparison) lists(key string, strict, lax []string, strictAt, laxAt Origin, why string) {
	removes := key == "require" // the name is gone from the new file, not come
	for _, name := range lax {
		if !slices.Contains(strict, name) {
			kind := "added"
			if removes {
				kind = "removed"
			}
			o := laxAt
			if o == (Origin{}) {
				o = strictAt
			}
			c.value(More, kind, "sandbox", key, quoteTOML(name), o, "", Origin{}, why)
		}
	}
	for _, name := range strict {
		if !slices.Contains(lax, name) {
			kind := "removed"
			if removes {
				kind = "added"
			}
			c.value(Fewer, kind, "sandbox", key, quoteTOML(name), strictAt, "", Origin{}, "")
		}
	}
}

func (c *comparison) evals() {
	names := sortedKeys(c.last.Eval)
	for _, name := range sortedKeys(c.next.Eval) {
		if _, ok := c.last.Eval[name]; !ok {
			names = append(names, name)
		}
	}
	for _, name := range names {
		a, hadIt := c.last.Eval[name]
		b, hasIt := c.next.Eval[name]
		switch {
		case !hadIt:
			c.value(More, "added", "eval", name, "", b.Origin, "", Origin{}, "lets text be evaluated")
		case !hasIt:
			c.value(Fewer, "removed", "eval", name, "", a.Origin, "", Origin{}, "")
		default:
			c.profile(name, a, b)
		}
	}
}

// profile compares the values of one table of [python.eval]; the names of its lists are rules.
func (c *comparison) profile(name string, a, b Eval) {
	join := func(key string) string { return strings.TrimPrefix(name+"."+key, ".") }
	for _, key := range evalKeys() {
		was, now := a.Values[key], b.Values[key]
		if was == now {
			continue
		}
		effect, kind := More, kindOf(was) // what cannot be ranked, such as what is the default now, is taken for more
		if x, okX := evalAmount(key, was); okX {
			if y, okY := evalAmount(key, now); okY && y < x {
				effect = Fewer
			}
		}
		if now == "" {
			kind = "removed"
		}
		c.value(effect, kind, "eval", join(key), now, b.Origin, was, a.Origin, "evaluated text may use more")
	}
}

// evalAmount makes the values of a key comparable; ok is false for one that is no amount.
func evalAmount(key, text string) (amount float64, ok bool) {
	switch key {
	case "timeout":
		d, err := parseTime(text)
		return float64(d), err == nil
	case "max_alloc":
		n, err := parseSize(text)
		return float64(n), err == nil
	}
	n, err := strconv.ParseFloat(text, 64)
	return n, err == nil && key != "namespace"
}
