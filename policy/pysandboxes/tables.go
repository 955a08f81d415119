package pysandboxes

import (
	"net/netip"
	"path"
	"regexp"
	"slices"
	"strings"

	"psb/policy"
)

var reference = regexp.MustCompile(`^\$\{([^}:]+)(:-.*)?\}$`)

// env converts K=V; a value that is the variable itself passes the host's.
func (r *reader) env(text string) {
	key, value, ok := strings.Cut(text, "=")
	key, value = strings.TrimSpace(key), unquote(strings.TrimSpace(value))
	if !ok || key == "" {
		r.remark("env=%s: neither a text nor ${NAME} is given; write %s = true to pass the host's", text, text)
		return
	}
	rule := policy.Rule{Op: policy.OpEnv, Pattern: policy.Pattern{Text: key}, Value: &value}
	ref := reference.FindStringSubmatch(value)
	switch {
	case ref != nil && ref[1] == key && ref[2] == "":
		rule.Value = nil
	case strings.ContainsAny(key, "*?"):
		r.remark("env=%s: one text cannot be the value of many variables; name each", text)
		return
	case ref != nil && ref[2] == "" && !strings.ContainsAny(ref[1], "*?"):
		r.remark("env=%s: where %s is unset, %s is empty now; it was absent", text, ref[1], key)
	}
	r.add(rule)
}

// expose converts a path of the host, shown at another place where to is given.
func (r *reader) expose(from, to string, rights ...policy.Op) {
	text, kind := r.place(from)
	if text == "" {
		return
	}
	if kind == File {
		rights = slices.DeleteFunc(rights, func(op policy.Op) bool { return op == policy.OpExec })
	}
	pattern := policy.Pattern{Text: text}
	if to != "" && to != from {
		pattern.From = text
		pattern.Text = strings.TrimSuffix(homely(to), "/")
		if strings.HasSuffix(text, "/") {
			pattern.Text += "/"
		}
	}
	for _, op := range rights {
		p := pattern
		p.Tree = strings.HasSuffix(p.Text, "/")
		r.add(policy.Rule{Op: op, Pattern: p})
	}
	if strings.HasSuffix(pattern.Text, "/") {
		r.exposed = append(r.exposed, pattern.Text)
	}
}

// homely writes the home as a policy does.
func homely(p string) string {
	if p == "${HOME}" || strings.HasPrefix(p, "${HOME}/") {
		return "~" + strings.TrimPrefix(p, "${HOME}")
	}
	return p
}

// place writes a path as a policy does, a folder with a final "/"; "" for one that no rule may name.
func (r *reader) place(p string) (text string, kind Kind) {
	text = homely(p)
	if text == "" {
		r.remark("%s: names no path", r.key)
		return "", Absent
	}
	if text == "." {
		text = "./"
	}
	a, err := policy.Resolve(policy.Access{Op: policy.OpRead, Object: text}, r.m)
	if err != nil { // a variable without a value here: the run will know
		return strings.TrimSuffix(text, "/") + "/", Folder
	}
	obj := strings.TrimSuffix(a.Object, "/")
	if obj == "" || r.m.Home != "" && (obj == r.m.Home || strings.HasPrefix(r.m.Home, obj+"/")) {
		r.remark("%s=%s: the whole of it is too much for a rule; name the files or folders in it that the program needs", r.key, p)
		return "", Absent
	}
	switch kind = r.look(obj); kind {
	case File, Program:
		return strings.TrimSuffix(text, "/"), kind
	case Absent:
		r.remark("%s=%s: it is not there and taken for a folder; take the final / away where it is a file", r.key, p)
	}
	return strings.TrimSuffix(text, "/") + "/", kind
}

// glob is one ignore line.
type glob struct {
	text string
	line int
	why  string
}

// hide converts what is ignored: a name below every folder that is shown, or a whole path.
func (r *reader) hide() {
	for _, g := range r.ignored {
		r.line, r.reason = g.line, []string{g.why}
		if g.why == "" {
			r.reason = nil
		}
		text := escaped(homely(g.text))
		switch {
		case strings.HasPrefix(text, "/") || strings.HasPrefix(text, "~"):
			r.hideWhole(text)
		case strings.Contains(text, "/"):
			r.remark("ignore=%s: a name with a / never matched; write the whole path", g.text)
		default:
			r.hidden("**/" + text)
			for _, dir := range r.exposed {
				if a, err := policy.Resolve(policy.Access{Op: policy.OpRead, Object: dir}, r.m); err != nil || !strings.HasPrefix(a.Object, r.m.Project+"/") {
					r.hidden(dir + "**/" + text)
				}
			}
		}
	}
	r.reason = nil
}

func (r *reader) hidden(text string) {
	r.add(policy.Rule{Op: policy.OpHide, Deny: true, Pattern: policy.Pattern{Text: text, Tree: strings.HasSuffix(text, "/")}})
}

// hideWhole converts a pattern on whole paths, whose * passes from folder to folder.
func (r *reader) hideWhole(text string) {
	dir, last := path.Split(text)
	if strings.ContainsAny(dir, "*?[") {
		r.remark("ignore=%s: a * went through folders; here it stays within one name: check what it hides", text)
	}
	r.hidden(text)
	if before, after, ok := strings.Cut(last, "*"); ok && before == "" {
		r.hidden(dir + "**/*" + after)
	} else if ok {
		r.hidden(dir + before + "*/**/*" + after)
	}
}

// escaped writes a pattern of fnmatch as one of ours: there "\" and "^" are letters, and a "[" without its "]" is one, too.
func escaped(p string) string {
	p = strings.ReplaceAll(p, `\`, `\\`)
	p = strings.ReplaceAll(p, "[^", `[\^`)
	if strings.Count(p, "[") > strings.Count(p, "]") {
		p = strings.ReplaceAll(p, "[", `\[`)
	}
	return p
}

// net converts ALLOW|PROTO|HOST|PORTS|DIR.
func (r *reader) net(text string) {
	f := strings.Split(text, "|")
	if len(f) != 5 {
		r.remark("net=%s: five fields are needed, ALLOW|tcp|host|port|OUT", text)
		return
	}
	for i := range f {
		f[i] = strings.TrimSpace(f[i])
	}
	host, okHost := netHost(f[2])
	ports, okPorts := netPorts(f[3])
	protos, okProto := words(f[1], []string{"tcp", "udp"})
	dirs, okDir := words(strings.ToUpper(f[4]), []string{"IN", "OUT"})
	deny := strings.EqualFold(f[0], "DENY")
	switch {
	case !deny && !strings.EqualFold(f[0], "ALLOW"), !okHost, !okProto, !okDir:
		r.remark("net=%s: not understood", text)
		return
	case ports == "" && okPorts:
		r.remark("net=%s: names no port, and so nothing", text)
		return
	case !okPorts:
		r.remark("net=%s: %q are no ports", text, f[3])
		return
	}
	if deny && len(dirs) < 2 {
		r.remark("net=%s: deny holds for both directions here", text)
	}
	if !deny && host == "*" && slices.Contains(dirs, "OUT") {
		r.remark("net=%s: * means public addresses here; those of the own machine and networks have to be named", text)
	}
	for _, proto := range protos {
		object := host + ":" + ports
		if proto == "udp" {
			object = "udp://" + object
		}
		switch {
		case deny:
			r.add(policy.Rule{Op: policy.OpDeny, Deny: true, Pattern: policy.Pattern{Text: object}})
			continue
		case slices.Contains(dirs, "OUT"):
			r.add(policy.Rule{Op: policy.OpConnect, Pattern: policy.Pattern{Text: object}})
		}
		if slices.Contains(dirs, "IN") {
			r.add(policy.Rule{Op: policy.OpListen, Pattern: policy.Pattern{Text: object}})
		}
	}
}

// words reads a list with commas; "*" and "any" are all.
func words(list string, all []string) (out []string, ok bool) {
	for _, w := range strings.Split(list, ",") {
		switch w = strings.TrimSpace(w); {
		case w == "*" || strings.EqualFold(w, "any"):
			return all, true
		case !slices.Contains(all, w):
			return nil, false
		}
		out = append(out, w)
	}
	return out, true
}

func netHost(host string) (string, bool) {
	if host == "any" {
		return "*", true
	}
	if p, err := netip.ParsePrefix(host); err == nil {
		p = p.Masked()
		if p.Addr().Is6() {
			return "[" + p.Addr().String() + "]/" + strings.SplitN(p.String(), "/", 2)[1], true
		}
		return p.String(), true
	}
	if a, err := netip.ParseAddr(host); err == nil && a.Is6() {
		return "[" + a.String() + "]", true
	}
	return host, host != ""
}

// netPorts writes a list of ports; "" with ok where none is named.
func netPorts(list string) (string, bool) {
	if list == "" {
		return "", true
	}
	var out []string
	for _, p := range strings.Split(list, ",") {
		switch p = strings.TrimSpace(p); {
		case p == "*" || p == "any":
			return "*", true
		case p == "":
			return "", false
		case strings.HasSuffix(p, "-"):
			p += "65535"
		}
		out = append(out, p)
	}
	return strings.Join(out, ","), true
}

// rlimits are the limits of firejail that psb has, too.
var rlimits = map[string]string{"rlimit-as": "memory", "rlimit-cpu": "cpu_time", "rlimit-fsize": "file_size", "rlimit-nofile": "open_files", "rlimit-nproc": "pids"}

// option converts what was passed on to a tool that built the box.
func (r *reader) option(tool, option, value string) {
	name, known := rlimits[option]
	switch {
	case tool == "qemu" && option == "memory":
		name, known = "memory", true
		value = strings.TrimSuffix(strings.ToUpper(value), "B")
	case tool == "firejail" && option == "rlimit-cpu":
		value += "s"
	case tool != "firejail":
		known = false
	}
	switch {
	case known:
		if _, err := policy.ParseLimit(name, value); err != nil {
			r.remark("%s.%s: %s", tool, option, err)
			return
		}
		if r.limits == nil {
			r.limits = map[string]string{}
		}
		r.limits[name] = value
	case strings.Contains(option, "net"):
		r.remark("%s.%s: the network of a box is empty but for lines of [net]", tool, option)
	case strings.HasPrefix(option, "seccomp"):
		r.remark("%s.%s: psb has a filter of its own, which [syscalls] widens or narrows", tool, option)
	default:
		r.remark("%s.%s: psb does not use %s; the line is not needed", tool, option, tool)
	}
}
