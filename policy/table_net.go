package policy

import (
	"fmt"
	"strings"
)

var netOps = []string{"connect", "listen", "deny"}

func (r *reader) net(o Origin, key string, v any, e entry) {
	var names []string
	switch v := v.(type) {
	case string:
		names = []string{v}
	case []any:
		for _, x := range v {
			s, _ := x.(string)
			names = append(names, s)
		}
	}
	if len(names) == 0 {
		r.probs.add(o, "%q must be connect, listen or deny, not %s", key, describe(v))
		return
	}
	for i, n := range names {
		if !contains(netOps, n) {
			r.probs.add(o, "unknown right %q for %q%s", n, key, near(n, netOps))
			return
		}
		if n == "deny" && len(names) > 1 {
			r.probs.add(o, "%q: deny cannot stand beside another right", key)
			return
		}
		if i == 0 {
			if err := checkNet(key); err != nil {
				r.probs.add(o, "%s", err)
				return
			}
		}
		if contains(names[:i], n) {
			continue
		}
		if pat, err := parseNet(key); err == nil && pat.anyFree() && n != "listen" {
			r.probs.add(o, "%q: port 0 means any free port, which only listen can ask for", key)
			return
		}
		r.rule(Op(n), key, o, e.comment).Deny = n == "deny"
	}
}

// checkNet judges an address as far as the text alone tells; with macros it is judged again once expanded.
func checkNet(key string) error {
	t, err := parseTemplate(key, false)
	if err != nil {
		return fmt.Errorf("%q: %w", key, err)
	}
	if t.hasRef() {
		for _, p := range t {
			if strings.ContainsAny(p.ref, "*?") {
				return fmt.Errorf("%q: %s is no macro", key, p.raw)
			}
		}
		return nil
	}
	_, err = parseNet(key)
	return err
}
