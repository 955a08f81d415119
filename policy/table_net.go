package policy

import (
	"fmt"
	"strings"
)

// netOps are the rights of [net], in the order in which a list of them is written.
var netOps = []string{"connect", "private", "listen", "deny"}

func isNetOp(op Op) bool { return contains(netOps, string(op)) }

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
		if n == "private" {
			err := checkPrivate(key)
			if err == nil && !contains(names, "connect") {
				err = fmt.Errorf(`%q: private says where a connect may lead: write ["connect", "private"]`, key)
			}
			if err != nil {
				r.probs.add(o, "%s", err)
				return
			}
		}
		if contains(names[:i], n) {
			continue
		}
		if pat, err := parseNet(key); err == nil && pat.anyFree() && n != "listen" {
			r.probs.add(o, "%s", anyFreeError(key))
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

func anyFreeError(key string) error {
	return fmt.Errorf("%q: port 0 means any free port, which only listen can ask for", key)
}

// checkPrivate refuses private where it would say too much, or nothing. What holds macros is judged once expanded.
func checkPrivate(key string) error {
	n, err := parseNet(key)
	switch {
	case strings.HasPrefix(key, "unix:"):
		return fmt.Errorf("%q: a socket needs no private: write connect alone", key)
	case err != nil:
	case n.any:
		return fmt.Errorf("%q: * never leads to a private address: name the host", key)
	case n.prefix.IsValid() || n.name == "localhost":
		return fmt.Errorf("%q: an address needs no private: write connect alone", key)
	}
	return nil
}
