package policy

import (
	"fmt"
	"strings"
)

// fileOps are the rights of [files], in the order in which a list of them is written.
func fileOps() []string { return []string{"read", "write", "create", "list", "exec", "hide", "device"} }

func (r *reader) files(o Origin, key string, v any, e entry) {
	from := ""
	if m, ok := v.(map[string]any); ok {
		for _, k := range sortedKeys(m) {
			if k != "from" && k != "right" {
				r.probs.add(o, "%q: unknown key %s%s", key, k, near(k, []string{"from", "right"}))
				return
			}
		}
		from, ok = m["from"].(string)
		if !ok || from == "" {
			r.probs.add(o, "%q: { from = \"host folder\", right = \"read\" } needs its from", key)
			return
		}
		if v, ok = m["right"]; !ok {
			r.probs.add(o, "%q: { from = …, right = \"read\" } needs its right", key)
			return
		}
	}
	var names []string
	switch v := v.(type) {
	case string:
		names = []string{v}
	case []any:
		for _, x := range v {
			s, ok := x.(string)
			if !ok {
				r.probs.add(o, "%q: a right is a word in quotes, not %s", key, describe(x))
				return
			}
			names = append(names, s)
		}
		if len(names) == 0 {
			r.probs.add(o, "%q: the list holds no right", key)
			return
		}
	case bool:
		r.probs.add(o, "%q must be a right, not %v: write %q or %q", key, v, OpRead, OpHide)
		return
	default:
		r.probs.add(o, "%q must be a right, not %s, valid: %s", key, describe(v), strings.Join(fileOps(), " "))
		return
	}
	bad := false
	for _, n := range names {
		if !contains(fileOps(), n) {
			r.probs.add(o, "unknown right %q for %q%s", n, key, near(n, fileOps()))
			bad = true
		}
	}
	if bad {
		return
	}
	if err := checkFile(key, from, names); err != nil {
		r.probs.add(o, "%s", err)
		return
	}
	for i, n := range names {
		if contains(names[:i], n) {
			continue
		}
		rule := r.rule(Op(n), key, o, e.comment)
		rule.Deny = n == string(OpHide)
		rule.Pattern.Tree = strings.HasSuffix(key, "/")
		rule.Pattern.From = from
	}
}

// checkFile judges one key of [files] with its rights, as far as the text alone tells.
func checkFile(key, from string, rights []string) error {
	tree := strings.HasSuffix(key, "/")
	t, err := parseTemplate(key, true)
	hide := contains(rights, string(OpHide))
	switch {
	case key == "":
		return fmt.Errorf("a rule of [files] needs a path")
	case strings.ContainsRune(key, 0) || strings.ContainsRune(from, 0):
		return fmt.Errorf("%q holds a NUL character", key)
	case err != nil:
		return fmt.Errorf("%q: %w", key, err)
	case hide && len(rights) > 1:
		return fmt.Errorf("%q: hide cannot stand beside another right", key)
	case hide && from != "":
		return fmt.Errorf("%q: hide takes no from", key)
	case hide && !globValid(key):
		return fmt.Errorf("%q: a [ without its ], or a \\ at the end", key)
	case hide && hasGlob(key) && strings.Contains("/"+key+"/", "/../"):
		return fmt.Errorf("%q: .. cannot stand in a path with a glob", key)
	}
	// A reference at the end, such as "${OUT:-out/}", may bring its own final "/".
	if endsInRef := len(t) > 0 && t[len(t)-1].ref != "" && t[len(t)-1].ref != "~"; !tree && !endsInRef {
		for _, right := range rights {
			if right == string(OpCreate) || right == string(OpList) {
				return fmt.Errorf("%q: %s speaks of a folder: write %s", key, right, quoteTOML(key+"/"))
			}
		}
	}
	for _, p := range t {
		if strings.ContainsAny(p.ref, "*?") {
			return fmt.Errorf("%q: %s is no macro", key, p.raw)
		}
	}
	if from != "" {
		if _, err := parseTemplate(from, true); err != nil {
			return fmt.Errorf("%q: from: %w", key, err)
		}
		if strings.HasSuffix(from, "/") != tree {
			return fmt.Errorf("%q and its from %q must both end in / (a folder) or neither (a file)", key, from)
		}
	}
	return nil
}
