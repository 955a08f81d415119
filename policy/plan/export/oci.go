package export

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// The parts of an OCI runtime configuration that psb writes, as the runtime specification names them (1.0.2).
type (
	ociConfig struct {
		Version     string            `json:"ociVersion"`
		Process     ociProcess        `json:"process"`
		Root        ociRoot           `json:"root"`
		Hostname    string            `json:"hostname,omitempty"`
		Mounts      []ociMount        `json:"mounts"`
		Annotations map[string]string `json:"annotations,omitempty"`
		Linux       ociLinux          `json:"linux"`
	}
	ociProcess struct {
		Terminal     bool                `json:"terminal"`
		User         ociUser             `json:"user"`
		Args         []string            `json:"args"`
		Env          []string            `json:"env"`
		Cwd          string              `json:"cwd"`
		Capabilities map[string][]string `json:"capabilities"`
		Rlimits      []ociRlimit         `json:"rlimits"`
		NoNewPrivs   bool                `json:"noNewPrivileges"`
	}
	ociUser struct {
		UID uint32 `json:"uid"`
		GID uint32 `json:"gid"`
	}
	ociRlimit struct {
		Type string `json:"type"`
		Hard uint64 `json:"hard"`
		Soft uint64 `json:"soft"`
	}
	ociRoot struct {
		Path     string `json:"path"`
		Readonly bool   `json:"readonly"`
	}
	ociMount struct {
		Destination string   `json:"destination"`
		Type        string   `json:"type,omitempty"`
		Source      string   `json:"source,omitempty"`
		Options     []string `json:"options,omitempty"`
	}
	ociLinux struct {
		Namespaces    []map[string]string `json:"namespaces"`
		Resources     map[string]any      `json:"resources,omitempty"`
		Seccomp       ociSeccomp          `json:"seccomp"`
		MaskedPaths   []string            `json:"maskedPaths"`
		ReadonlyPaths []string            `json:"readonlyPaths"`
	}
)

// oci writes a bundle: config.json, the filter once more as a profile of its own, and the root folder with the links and files that mounts
// cannot make.
func (m *maker) oci() error {
	m.everywhere()
	m.noNetwork("the configuration has no names and no ports: the network namespace is empty")
	m.limits("memory", "memory_swap", "pids", "cpus", "cpu_time", "file_size", "open_files", "disk")
	if m.req.Root {
		m.weaker("the id of root's programs", "psb gives them an id that owns nothing; the runtime runs them as root, without capabilities")
	}
	c := ociConfig{Version: "1.0.2", Root: ociRoot{"rootfs", true}, Hostname: m.plan.Spec.Hostname}
	env, err := m.ociEnv()
	if err != nil {
		return err
	}
	none, spec := []string{}, m.plan.Spec
	c.Process = ociProcess{User: ociUser{m.plan.Identity.UID, m.plan.Identity.GID}, Args: append([]string{spec.Exec}, spec.Argv[1:]...), Env: env, Cwd: m.plan.Command.Dir,
		Capabilities: map[string][]string{"bounding": none, "effective": none, "permitted": none, "inheritable": none, "ambient": none},
		Rlimits:      m.ociRlimits(), NoNewPrivs: true}
	c.Linux = ociLinux{Resources: m.ociResources(), Seccomp: seccompProfile(m.req.Filter), MaskedPaths: []string{"/sys/firmware", "/proc/acpi", "/proc/scsi"},
		ReadonlyPaths: []string{"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"}}
	for _, n := range []string{"pid", "network", "ipc", "uts", "mount", "cgroup"} {
		c.Linux.Namespaces = append(c.Linux.Namespaces, map[string]string{"type": n})
	}
	m.add(File{Name: "rootfs", Mode: 0o755, Dir: true})
	m.ociRoot(&c)
	if err := speakable(c); err != nil {
		return err
	}
	config, err := indented(c)
	if err != nil {
		return err
	}
	profile, err := indented(c.Linux.Seccomp)
	if err != nil {
		return err
	}
	m.files = append([]File{{Name: "config.json", Mode: 0o644, Data: config}, {Name: "seccomp.json", Mode: 0o644, Data: profile}}, m.files...)
	return nil
}

// speakable refuses names that JSON cannot hold: they would come out as others.
func speakable(c ociConfig) error {
	words := slices.Concat(c.Process.Args, c.Process.Env, c.Linux.MaskedPaths, []string{c.Process.Cwd})
	for _, x := range c.Mounts {
		words = append(words, x.Source, x.Destination)
	}
	for _, w := range words {
		if strings.ToValidUTF8(w, "") != w {
			return fmt.Errorf("%q is not UTF-8 and cannot stand in a JSON file", w)
		}
	}
	return nil
}

// ociRoot turns acts into mounts; links, and folders and names of psb's own, stand in the root folder itself where nothing is mounted over it.
func (m *maker) ociRoot(c *ociConfig) {
	list := acts(m.plan)
	var sealed []string
	for i, a := range list {
		below := mountedOver(list[:i], a.target)
		mode := fmt.Sprintf("mode=%o", a.mode)
		switch a.kind {
		case actDir, actLink:
			switch {
			case !below:
				m.add(File{Name: "rootfs" + a.target, Mode: a.mode, Dir: a.kind == actDir, Link: a.source})
			case a.kind == actLink:
				m.lost(fmt.Sprintf("the link %q", a.target), "nothing makes links in a space that is mounted")
			}
		case actFile:
			m.add(File{Name: "root" + a.target, Mode: 0o644, Data: a.data})
			c.Mounts = append(c.Mounts, ociBind("root"+a.target, a.target, true, false))
		case actName, actHidden:
			if !below && a.kind == actName {
				m.add(File{Name: "rootfs" + a.target, Mode: 0, Dir: a.folder})
				continue
			}
			if within(a.target, "/proc") {
				c.Linux.MaskedPaths = append(c.Linux.MaskedPaths, a.target)
				continue
			}
			c.Mounts = append(c.Mounts, m.ociHidden(a)) // maskedPaths would show the null device, which can be opened
		case actTmpfs:
			options := []string{"nosuid", "nodev", mode}
			if a.size != 0 {
				options = append(options, fmt.Sprintf("size=%d", a.size))
			}
			c.Mounts = append(c.Mounts, ociMount{a.target, "tmpfs", "tmpfs", options})
		case actBind:
			if a.device {
				m.lost("[files] device "+a.target, "it is there, and its control group refuses it: add its numbers to linux.resources.devices")
			}
			c.Mounts = append(c.Mounts, ociBind(a.source, a.target, a.readOnly, a.device))
		case actSeal:
			sealed = append(sealed, a.target)
		case actProc:
			c.Mounts = append(c.Mounts, ociMount{a.target, "proc", "proc", []string{"nosuid", "noexec", "nodev"}})
		case actDev:
			c.Mounts = append(c.Mounts, ociMount{a.target, "tmpfs", "tmpfs", []string{"nosuid", "noexec", "strictatime", "mode=755", "size=65536k", "ro"}},
				ociMount{a.target + "/pts", "devpts", "devpts", []string{"nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620"}})
		case actQueue:
			c.Mounts = append(c.Mounts, ociMount{a.target, "mqueue", "mqueue", []string{"nosuid", "noexec", "nodev"}})
		}
	}
	c.Linux.ReadonlyPaths = append(c.Linux.ReadonlyPaths, sealed...)
}

// ociHidden is an object that cannot be opened.
func (m *maker) ociHidden(a act) ociMount {
	name := "hidden"
	if a.folder {
		name = "hidden-folder"
	}
	m.add(File{Name: name, Mode: 0, Dir: a.folder})
	return ociBind(name, a.target, true, false)
}

func ociBind(source, target string, readOnly, device bool) ociMount {
	options := []string{"rbind", "nosuid", "private"}
	if readOnly {
		options = append(options, "ro")
	} else {
		options = append(options, "rw")
	}
	if !device {
		options = append(options, "nodev")
	}
	return ociMount{target, "bind", source, options}
}

// mountedOver says whether some earlier act puts a mount over a folder above target.
func mountedOver(earlier []act, target string) bool {
	return slices.ContainsFunc(earlier, func(a act) bool {
		switch a.kind {
		case actTmpfs, actBind, actProc, actDev, actQueue:
			return within(path.Dir(target), a.target)
		}
		return false
	})
}

// ociEnv: a configuration has no way to say "the host's value"; the variables that every program gets are written, they tell nothing.
func (m *maker) ociEnv() ([]string, error) {
	texts, names, err := m.texts("process.env of config.json")
	if err != nil {
		return nil, err
	}
	for _, n := range names {
		m.lost(n.what, "its value is the host's and is written nowhere: add it to process.env")
	}
	out := make([]string, 0, len(texts))
	for name, text := range texts {
		out = append(out, name+"="+text)
	}
	slices.Sort(out)
	return out, nil
}

func (m *maker) ociRlimits() []ociRlimit {
	out := []ociRlimit{{"RLIMIT_CORE", 1, 1}}
	for _, x := range []struct{ limit, name string }{{"cpu_time", "RLIMIT_CPU"}, {"file_size", "RLIMIT_FSIZE"}, {"open_files", "RLIMIT_NOFILE"}} {
		l, ok := m.plan.Limits[x.limit]
		if !ok {
			continue
		}
		n := l.Bytes + l.Count
		if x.limit == "cpu_time" {
			n = max(1, uint64(l.Time.Seconds()))
		}
		out = append(out, ociRlimit{x.name, n, n})
	}
	return out
}

func (m *maker) ociResources() map[string]any {
	out := map[string]any{"devices": []map[string]any{{"allow": false, "access": "rwm"}}} // the runtime adds those that every container has
	memory := map[string]any{}
	if l, ok := m.plan.Limits["memory"]; ok {
		memory["limit"] = l.Bytes
		if l.Origin.From != "default" {
			memory["swap"] = l.Bytes + m.plan.Limits["memory_swap"].Bytes // memory and swap together
		}
		out["memory"] = memory
	}
	if l, ok := m.plan.Limits["pids"]; ok {
		out["pids"] = map[string]any{"limit": l.Count}
	}
	if l, ok := m.plan.Limits["cpus"]; ok {
		const period = 100_000 // microseconds
		out["cpu"] = map[string]any{"period": period, "quota": int64(l.CPUs * period)}
	}
	return out
}
