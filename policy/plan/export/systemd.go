package export

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"psb/policy"
	"psb/policy/plan"
)

// unit is a service on its way. The first name that a unit cannot hold stops it.
type unit struct {
	b   strings.Builder
	err error
}

func (u *unit) set(key string, words ...string) {
	fmt.Fprintf(&u.b, "%s=%s\n", key, strings.Join(words, " "))
}

// systemd writes one service. What psb makes itself (accounts, names of a folder that may only be listed) no unit can make.
func (m *maker) systemd() error {
	m.everywhere()
	m.limits("memory", "memory_swap", "pids", "cpus", "cpu_time", "wall", "file_size", "open_files", "disk")
	if m.req.Root {
		m.weaker("the id of root's programs", "psb gives them an id that owns nothing; the service runs as root, without capabilities: User= names another")
	}
	m.weaker("processes of the same user", "the service has no pid namespace (PrivatePIDs= needs systemd 257): it can send them signals; User= names another")
	u := &unit{}
	net := m.systemdNet()
	m.systemdProcess(u)
	m.systemdWalls(u)
	for _, l := range net {
		u.b.WriteString(l + "\n")
	}
	m.systemdCalls(u, slices.Contains(net, "PrivateNetwork=yes"))
	m.systemdLimits(u)
	m.systemdRoot(u)
	if u.err != nil {
		return u.err
	}
	var head strings.Builder
	head.WriteString("# psb policy export: a service of systemd 249 or later. Make it anew when the policy or the files it speaks of change.\n")
	for _, r := range m.remarks {
		fmt.Fprintf(&head, "# %s\n", visible(r.String()))
	}
	head.WriteString("[Service]\n")
	m.add(File{Name: label(m.req.Name) + ".service", Mode: 0o644, Data: []byte(head.String() + u.b.String())})
	return nil
}

// ofSystemd are variables that systemd gives to every service.
var ofSystemd = []string{"CREDENTIALS_DIRECTORY", "HOME", "INVOCATION_ID", "JOURNAL_STREAM", "LANG", "LOGNAME", "MANAGERPID",
	"MEMORY_PRESSURE_WATCH", "MEMORY_PRESSURE_WRITE", "PATH", "SHELL", "SYSTEMD_EXEC_PID", "TERM", "USER"}

func (m *maker) systemdProcess(u *unit) {
	id := m.plan.Identity
	words := []string{":" + execWord(m.plan.Spec.Exec)}
	for _, a := range m.plan.Spec.Argv[1:] {
		words = append(words, execWord(a))
	}
	u.set("Type", "exec")
	u.set("ExecStart", words...)
	u.set("WorkingDirectory", u.plain(m.plan.Command.Dir))
	u.set("User", fmt.Sprint(id.UID))
	u.set("Group", fmt.Sprint(id.GID))
	texts, names, err := m.texts("the unit, or to EnvironmentFile=")
	if err != nil {
		u.err = err
		return
	}
	var given, pass []string
	for name, text := range texts {
		if strings.ToValidUTF8(text, "") != text || strings.ContainsFunc(text, func(r rune) bool { return (r < ' ' || r == 0x7f) && r != '\t' && r != '\n' }) {
			m.lost("[env] "+name, "its text has characters that systemd takes for no value")
			continue
		}
		given = append(given, name+"="+text)
	}
	slices.Sort(given)
	for _, kv := range given {
		u.set("Environment", execWord(kv))
	}
	for _, n := range names {
		pass = append(pass, m.passNames(n)...)
	}
	if slices.Sort(pass); len(pass) > 0 {
		u.set("PassEnvironment", slices.Compact(pass)...)
	}
	u.set("UnsetEnvironment", slices.DeleteFunc(slices.Clone(ofSystemd), func(name string) bool {
		_, set := texts[name]
		return set || slices.Contains(pass, name)
	})...)
}

// passNames are the names that PassEnvironment= may hold: a glob stands for those that are there now and that no line refuses.
func (m *maker) passNames(n passedName) []string {
	plain := func(s string) bool {
		return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
	}
	e, _ := m.environment()
	if plain(n.name) {
		if e.denied(n.name) {
			return nil
		}
		return []string{n.name}
	}
	var out []string
	for _, kv := range m.plan.Env {
		if name, _, _ := strings.Cut(kv, "="); plan.MatchesName(n.name, name) && plain(name) {
			out = append(out, name)
		}
	}
	m.lost(n.what, "%s has no globs on names: those that are there now are passed (%s)", m.target.tool(), orNone(out))
	return out
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, " ")
}

func (m *maker) systemdWalls(u *unit) {
	u.set("NoNewPrivileges", "yes")
	u.set("CapabilityBoundingSet")
	u.set("AmbientCapabilities")
	for _, key := range []string{"PrivateUsers", "PrivateIPC", "PrivateDevices", "ProtectKernelTunables", "ProtectKernelModules", "ProtectKernelLogs", "ProtectControlGroups",
		"ProtectClock", "ProtectHostname", "RestrictNamespaces", "RestrictSUIDSGID", "LockPersonality"} {
		u.set(key, "yes")
	}
	u.set("ProtectProc", "invisible")
	u.set("KeyringMode", "private")
	u.set("UMask", "0022")
}

// otherwise are the calls that psb allows for some arguments only, by what holds the others in a service; SystemCallFilter= knows names alone.
var otherwise = map[string]string{
	"clone": "RestrictNamespaces", "unshare": "RestrictNamespaces", "personality": "LockPersonality",
	"chmod": "RestrictSUIDSGID", "fchmod": "RestrictSUIDSGID", "fchmodat": "RestrictSUIDSGID", "fchmodat2": "RestrictSUIDSGID", "creat": "RestrictSUIDSGID",
	"open": "RestrictSUIDSGID", "openat": "RestrictSUIDSGID", "mknod": "CapabilityBoundingSet", "mknodat": "CapabilityBoundingSet",
	"setuid": "CapabilityBoundingSet", "setgid": "CapabilityBoundingSet", "setreuid": "CapabilityBoundingSet", "setregid": "CapabilityBoundingSet",
	"setresuid": "CapabilityBoundingSet", "setresgid": "CapabilityBoundingSet",
}

// systemdCalls is psb's list of calls by name. alone says that the service has a network of its own, which is empty.
func (m *maker) systemdCalls(u *unit, alone bool) {
	f := m.req.Filter
	if !alone {
		f = connecting(f)
	}
	var names, open []string
	for _, a := range answers(f) {
		if a.refused() {
			continue
		}
		names = append(names, a.name)
		if a.partly && otherwise[a.name] == "" && !(alone && strings.HasPrefix(a.name, "send")) {
			open = append(open, a.name)
		}
	}
	if len(open) > 0 {
		m.weaker("arguments of kernel calls", "SystemCallFilter= knows names alone: of %s psb refuses some "+
			"(TIOCSTI, unix datagrams, raw sockets, other processes' priorities)", strings.Join(open, " "))
	}
	u.set("SystemCallArchitectures", "native")
	for chunk := range slices.Chunk(names, 12) {
		u.set("SystemCallFilter", chunk...)
	}
	u.set("SystemCallErrorNumber", "ENOSYS")
	u.set("RestrictAddressFamilies", "AF_UNIX", "AF_INET", "AF_INET6", "AF_NETLINK")
}

func (m *maker) systemdLimits(u *unit) {
	l := m.plan.Limits
	u.set("LimitCORE", "1")
	for _, x := range []struct{ limit, key string }{{"memory", "MemoryMax"}, {"pids", "TasksMax"}, {"file_size", "LimitFSIZE"}, {"open_files", "LimitNOFILE"}} {
		if v, ok := l[x.limit]; ok {
			u.set(x.key, fmt.Sprint(v.Bytes+v.Count))
		}
	}
	if v, ok := l["memory_swap"]; ok || l["memory"].Origin.From != "default" {
		u.set("MemorySwapMax", fmt.Sprint(v.Bytes))
	}
	if v, ok := l["cpus"]; ok {
		u.set("CPUQuota", fmt.Sprintf("%d%%", max(1, int(math.Floor(v.CPUs*100)))))
	}
	if v, ok := l["cpu_time"]; ok {
		u.set("LimitCPU", fmt.Sprint(max(1, uint64(v.Time.Seconds()))))
	}
	if v, ok := l["wall"]; ok {
		u.set("RuntimeMaxSec", fmt.Sprintf("%dms", max(1, v.Time.Milliseconds())))
	}
}

// hostsOwn are files that psb makes anew and a unit has to take from the host.
var hostsOwn = []string{"/etc/passwd", "/etc/group", "/etc/hosts", "/etc/nsswitch.conf", "/etc/host.conf", "/etc/hostname", "/etc/resolv.conf"}

// systemdRoot is an empty read-only root with what the plan shows in it.
func (m *maker) systemdRoot(u *unit) {
	u.set("TemporaryFileSystem", "/:ro")
	list := withoutLinks(acts(m.plan), func(link string) {
		m.lost(fmt.Sprintf("the link %q", link), "a unit makes no links into private spaces")
	})
	for _, r := range m.plan.Policy.Rules {
		if r.Op == policy.OpList {
			m.lost(line("files", r), "a unit makes no names: of the folder those with a line of their own are seen")
		}
	}
	for _, a := range list {
		switch a.kind {
		case actBind:
			key := "BindPaths"
			if a.readOnly {
				key = "BindReadOnlyPaths"
			}
			if a.device && a.folder {
				m.lost(fmt.Sprintf("[files] device %s/", a.target), "DeviceAllow= names nodes, no folders: write a line for each")
			} else if a.device {
				u.set("DeviceAllow", u.path(a.source), "rw")
			}
			u.set(key, u.path(a.source)+":"+u.path(a.target))
		case actHidden:
			u.set("InaccessiblePaths", "-"+u.path(a.target))
		case actTmpfs:
			options := fmt.Sprintf(":mode=%04o", a.mode)
			if a.size != 0 {
				options += fmt.Sprintf(",size=%d", a.size)
			}
			if slices.ContainsFunc(list, func(b act) bool { return b.kind == actSeal && b.target == a.target }) {
				options += ",ro" // what is mounted in it is made first
			}
			u.set("TemporaryFileSystem", u.path(a.target)+options)
		case actFile:
			if slices.Contains(hostsOwn, a.target) {
				u.set("BindReadOnlyPaths", "-"+a.target)
				m.weaker("/etc/passwd and its like", "a unit makes no files: they are the host's own")
			}
		case actDir:
			if !slices.ContainsFunc(list, func(b act) bool { return b.target != a.target && within(b.target, a.target) }) {
				u.set("TemporaryFileSystem", u.path(a.target)+":ro,size=4k")
			}
		}
	}
}

// execWord quotes a word of ExecStart= and Environment=: C escapes, and % stands for itself. Variables are not put in (":" before the program).
func execWord(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '%':
			b.WriteString("%%")
		case c == '"' || c == '\\':
			b.WriteString(`\` + string(c))
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// path writes a path among others in one setting: separators are escaped, and there is no way to write control characters.
func (u *unit) path(p string) string {
	if u.err == nil && (strings.ToValidUTF8(p, "") != p || strings.ContainsFunc(p, func(r rune) bool { return r < ' ' || r == 0x7f })) {
		u.err = fmt.Errorf("%q cannot be written in a unit", p)
	}
	var b strings.Builder
	for _, r := range p {
		switch r {
		case '%':
			b.WriteByte('%')
		case ' ', '"', '\'', '\\', ':':
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// plain is a path that stands alone in a setting.
func (u *unit) plain(p string) string {
	u.path(p)
	return strings.ReplaceAll(p, "%", "%%")
}
