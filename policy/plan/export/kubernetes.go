package export

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"psb/policy"
	"psb/policy/plan"
)

// kubernetes writes pod.yaml, with a NetworkPolicy behind the pod, and the filter as a profile that a node keeps below its seccomp folder.
//
// The image brings the interpreter and what it needs; what the policy names comes from the node's own file system.
func (m *maker) kubernetes() error {
	m.everywhere()
	m.limits("memory", "memory_swap", "cpus", "wall", "disk")
	name := label(m.req.Name)
	m.lost("the interpreter", "the image brings it, with libraries and packages: image: is yours to write")
	if m.req.Root {
		m.lost("the files of root", "the pod runs as id %d, which owns nothing: runAsUser: names another", m.plan.Identity.UID)
	}
	net, policyDoc := m.kubernetesNet(name)
	f := m.req.Filter
	if net {
		f = connecting(f)
		m.weaker("unix sockets of the node", "connect is allowed as a whole: those that stand in a mounted folder can be connected to")
	}
	profile, err := indented(seccompProfile(f))
	if err != nil {
		return err
	}
	volumes, mounts, err := m.kubernetesVolumes()
	if err != nil {
		return err
	}
	env, err := m.kubernetesEnv(name)
	if err != nil {
		return err
	}
	spec := yamlMap{{"automountServiceAccountToken", false}, {"enableServiceLinks", false}, {"hostNetwork", false}, {"hostPID", false}, {"hostIPC", false},
		{"restartPolicy", "Never"}}
	if l, ok := m.plan.Limits["wall"]; ok {
		spec = append(spec, yamlPair{"activeDeadlineSeconds", int64(max(1, math.Ceil(l.Time.Seconds())))})
	}
	spec = append(spec, yamlPair{"containers", yamlList{m.kubernetesContainer(name, env, mounts)}}, yamlPair{"volumes", volumes})
	pod := yamlMap{{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", yamlMap{{"name", name}, {"labels", yamlMap{{"app", name}}}}}, {"spec", spec}}

	var b strings.Builder
	b.WriteString("# psb policy export: a pod of Kubernetes 1.27 or later. Make it anew when the policy or the files it speaks of change.\n")
	fmt.Fprintf(&b, "# On each node: install -D -m 0644 seccomp.json /var/lib/kubelet/seccomp/psb/%s.json\n", name)
	for _, r := range m.remarks {
		fmt.Fprintf(&b, "# %s\n", visible(r.String()))
	}
	b.WriteString(yamlText(pod) + "---\n" + yamlText(policyDoc))
	m.add(File{Name: "pod.yaml", Mode: 0o644, Data: []byte(b.String())})
	m.add(File{Name: "seccomp.json", Mode: 0o644, Data: profile})
	return nil
}

// kubernetesContainer is what runs, and the walls around it.
func (m *maker) kubernetesContainer(name string, env, mounts yamlList) yamlMap {
	id := m.plan.Identity
	return yamlMap{
		{"name", "program"},
		{"image", "IMAGE"},
		{"command", yamlStrings(append([]string{m.kubernetesProgram()}, m.plan.Spec.Argv[1:]...))},
		{"workingDir", m.plan.Command.Dir},
		{"env", env},
		{"securityContext", yamlMap{
			{"allowPrivilegeEscalation", false}, {"privileged", false}, {"readOnlyRootFilesystem", true},
			{"runAsNonRoot", true}, {"runAsUser", id.UID}, {"runAsGroup", id.GID},
			{"capabilities", yamlMap{{"drop", yamlList{"ALL"}}}},
			{"seccompProfile", yamlMap{{"type", "Localhost"}, {"localhostProfile", "psb/" + name + ".json"}}},
		}},
		{"resources", m.kubernetesResources()},
		{"volumeMounts", mounts},
	}
}

// label is a name as Kubernetes takes it (RFC 1123): what does not fit is "-".
func label(s string) string {
	s = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(s))
	s = strings.Trim(s[:min(len(s), 50)], "-")
	if s == "" {
		return "program"
	}
	return s
}

// kubernetesProgram is the interpreter by its name, which the image finds; a command is the node's, and named by its path.
func (m *maker) kubernetesProgram() string {
	if m.plan.Command.Python {
		return path.Base(m.plan.Spec.Exec)
	}
	return m.plan.Spec.Exec
}

func yamlStrings(words []string) yamlList {
	out := make(yamlList, 0, len(words))
	for _, w := range words {
		out = append(out, strings.ReplaceAll(w, "$(", "$$(")) // a kubelet puts variables in
	}
	return out
}

// kubernetesEnv: the values of passed variables come from a Secret, which the user makes; one that is not in it is not set.
func (m *maker) kubernetesEnv(name string) (yamlList, error) {
	texts, names, err := m.texts("env:")
	if err != nil {
		return nil, err
	}
	keys := make([]string, 0, len(texts))
	for k := range texts {
		if k != "PATH" && k != "HOME" { // the image's, not this host's
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	out := yamlList{}
	for _, k := range keys {
		out = append(out, yamlMap{{"name", k}, {"value", strings.ReplaceAll(texts[k], "$(", "$$(")}})
	}
	for _, n := range names {
		for _, k := range m.passNames(n) {
			out = append(out, yamlMap{{"name", k}, {"valueFrom", yamlMap{{"secretKeyRef", yamlMap{{"name", name + "-env"}, {"key", k}, {"optional", true}}}}}})
		}
	}
	return out, nil
}

func (m *maker) kubernetesResources() yamlMap {
	limits := yamlMap{}
	l := m.plan.Limits
	if v, ok := l["cpus"]; ok {
		limits = append(limits, yamlPair{"cpu", fmt.Sprintf("%dm", max(1, int(v.CPUs*1000)))})
	}
	if v, ok := l["memory"]; ok {
		if v.Origin.From == "default" {
			m.weaker("[limits] memory = "+v.Text+at(v.Origin), "the node is another machine: resources: is yours to write")
		} else {
			limits = append(limits, yamlPair{"memory", fmt.Sprint(v.Bytes)})
		}
	}
	return yamlMap{{"limits", limits}}
}

// kubernetesVolumes are what the policy names, and the private spaces.
func (m *maker) kubernetesVolumes() (volumes, mounts yamlList, err error) {
	volumes, mounts = yamlList{}, yamlList{}
	number := 0
	add := func(target string, source yamlMap, readOnly bool) {
		name := fmt.Sprintf("v%d", number)
		number++
		volumes = append(volumes, append(yamlMap{{"name", name}}, source...))
		mounts = append(mounts, yamlMap{{"name", name}, {"mountPath", target}, {"readOnly", readOnly}})
	}
	list := withoutLinks(acts(m.plan), func(link string) {
		m.lost(fmt.Sprintf("the link %q", link), "a pod makes no links into private spaces")
	})
	if slices.ContainsFunc(m.plan.Policy.Rules, func(r policy.Rule) bool { return r.Op == policy.OpList }) {
		m.lost("[files] list", "a pod makes no names: of such a folder those with a line of their own are seen")
	}
	for _, a := range list {
		for _, p := range []string{a.source, a.target} {
			if strings.ToValidUTF8(p, "") != p || a.kind == actBind && strings.Contains(a.target, ":") {
				return nil, nil, fmt.Errorf("%q cannot be the path of a volume", p)
			}
		}
		switch {
		case a.kind == actTmpfs && a.target == "/tmp", a.kind == actTmpfs && a.target == "/dev/shm", a.kind == actTmpfs && m.named(a.target):
			medium := yamlMap{{"medium", "Memory"}}
			if a.size != 0 {
				medium = append(medium, yamlPair{"sizeLimit", fmt.Sprint(a.size)})
			}
			add(a.target, yamlMap{{"emptyDir", medium}}, false)
		case a.kind == actBind && m.named(a.target) && slices.Contains(programFolders, path.Dir(a.target)):
			m.lost(fmt.Sprintf("[files] exec %s", a.target), "the image brings it, or has none")
		case a.kind == actBind && m.named(a.target):
			kind := "File"
			if a.folder {
				kind = "Directory"
			}
			if a.device {
				kind = "CharDevice"
				m.lost(fmt.Sprintf("[files] device %s", a.target), "a pod opens devices by a device plugin: the node is mounted and cannot be opened")
			}
			add(a.target, yamlMap{{"hostPath", yamlMap{{"path", a.source}, {"type", kind}}}}, a.readOnly)
		case a.kind == actHidden && a.folder && m.named(a.target):
			add(a.target, yamlMap{{"emptyDir", yamlMap{{"sizeLimit", "4096"}}}}, true)
		case a.kind == actHidden && m.named(a.target):
			add(a.target, yamlMap{{"hostPath", yamlMap{{"path", "/dev/null"}, {"type", "CharDevice"}}}}, true)
		}
	}
	return volumes, mounts, nil
}

// programFolders hold programs that an image has of its own.
var programFolders = []string{"/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"}

// named says that a line of the policy, or the command line, shows what stands at a path: the rest is the image's.
func (m *maker) named(at string) bool {
	var best *plan.Place
	for _, p := range m.plan.Places {
		if within(at, p.Path) && (best == nil || len(p.Path) > len(best.Path)) && (p.Path == at || p.Rights != 0 || p.Hidden) {
			best = p
		}
	}
	if best == nil || within(at, "/proc") || within(at, "/dev") && !best.Rights.Has(plan.UseDevice) {
		return false
	}
	ofLine := slices.ContainsFunc(best.Origins, func(o policy.Origin) bool { return o.From != "always there" })
	return ofLine && !strings.HasPrefix(best.Why, "started by ") || best.Why == "named on the command line"
}
