package integration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"
)

// TestExportKubernetes: what is exported decodes strictly into the API's own types, and says what the policy says.
func TestExportKubernetes(t *testing.T) {
	besideOthers(t)
	if controlOnly() {
		t.Skip("needs psb")
	}
	for _, who := range people() {
		t.Run(who.name, func(t *testing.T) {
			s := newExported(t, who, workshop)
			s.put(t, "home/code/project/.py-sandboxes", strings.Replace(exportPolicy, "[net]\n", "[net]\n\"10.1.0.0/16:5432,8000-8010\" = \"connect\"\n\"*:443\" = \"connect\"\n"+
				"\"10.1.2.0/24:*\" = \"deny\"\n\"0.0.0.0:9000\" = \"listen\"\n", 1))
			r := s.export(t, "kubernetes", "-o", s.folder)
			s.noValues(t, r)
			pod, net := s.manifests(t)
			s.podHolds(t, pod)
			if got, want := describe(net), "egress 10.1.0.0/16 without 10.1.2.0/24 to TCP 5432, TCP 8000-8010\n"; !strings.HasPrefix(got, want) {
				t.Errorf("the network policy is\n%s\nwant first\n%s", got, want)
			}
			if got := describe(net); !strings.HasSuffix(got, "ingress any to TCP 9000\n") || !strings.Contains(got, "169.254.0.0/16") {
				t.Errorf("the network policy is\n%s", got)
			}
			if !strings.Contains(r.err, "psb: not exported: [net] connect rates.example.com:443 (.py-sandboxes:") {
				t.Errorf("a name is left out without a word:\n%s", r.err)
			}
		})
	}
}

// manifests decodes the exported documents; a field that the API does not know is an error.
func (s exported) manifests(t *testing.T) (core.Pod, networking.NetworkPolicy) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(s.folder, "pod.yaml"))
	must(t, err)
	documents := bytes.Split(b, []byte("\n---\n"))
	if len(documents) != 2 {
		t.Fatalf("%d documents", len(documents))
	}
	var pod core.Pod
	var net networking.NetworkPolicy
	must(t, yaml.UnmarshalStrict(documents[0], &pod))
	must(t, yaml.UnmarshalStrict(documents[1], &net))
	if pod.Kind != "Pod" || pod.APIVersion != core.SchemeGroupVersion.String() || net.Kind != "NetworkPolicy" || net.APIVersion != networking.SchemeGroupVersion.String() {
		t.Errorf("%s %s and %s %s", pod.APIVersion, pod.Kind, net.APIVersion, net.Kind)
	}
	return pod, net
}

// podHolds is what a cluster's restricted standard asks of a container, and where the project's files are seen.
func (s exported) podHolds(t *testing.T, pod core.Pod) {
	t.Helper()
	c := pod.Spec.Containers[0]
	sec := c.SecurityContext
	held := []struct {
		what string
		is   bool
	}{
		{"no new privileges", !*sec.AllowPrivilegeEscalation && !*sec.Privileged},
		{"an ordinary id", *sec.RunAsNonRoot && *sec.RunAsUser > 0 && *sec.RunAsGroup > 0},
		{"a read-only root", *sec.ReadOnlyRootFilesystem},
		{"no capability", slices.Equal(sec.Capabilities.Drop, []core.Capability{"ALL"}) && len(sec.Capabilities.Add) == 0},
		{"psb's filter", sec.SeccompProfile.Type == core.SeccompProfileTypeLocalhost && strings.HasSuffix(*sec.SeccompProfile.LocalhostProfile, ".json")},
		{"nothing of the node's", !pod.Spec.HostNetwork && !pod.Spec.HostPID && !pod.Spec.HostIPC},
		{"no token", !*pod.Spec.AutomountServiceAccountToken},
		{"memory", c.Resources.Limits.Memory().Value() == 512<<20},
		{"wall", *pod.Spec.ActiveDeadlineSeconds == 50},
	}
	for _, h := range held {
		if !h.is {
			t.Errorf("the pod does not hold: %s", h.what)
		}
	}
	for _, problem := range validation.IsDNS1123Label(pod.Name) {
		t.Errorf("the name %q: %s", pod.Name, problem)
	}
	if got := mountsOf(pod, s.project); got != "data ro Directory\ndata/.env ro CharDevice /dev/null\nout rw Directory\nout/old ro CharDevice /dev/null\n"+
		"out/present ro CharDevice /dev/null\nprobe.py ro File\n" {
		t.Errorf("of the project the pod sees\n%s", got)
	}
	for _, e := range c.Env {
		if e.Name == "PASSED" && (e.Value != "" || e.ValueFrom.SecretKeyRef.Key != "PASSED") || e.Name == "OTHER" || e.Name == "SET_NEVER" {
			t.Errorf("the variable %+v", e)
		}
	}
	var profile struct{ DefaultAction string }
	b, err := os.ReadFile(filepath.Join(s.folder, "seccomp.json"))
	must(t, err)
	if must(t, json.Unmarshal(b, &profile)); profile.DefaultAction != "SCMP_ACT_ERRNO" {
		t.Errorf("the profile's default is %q", profile.DefaultAction)
	}
}

// mountsOf lists what a pod shows below a folder.
func mountsOf(pod core.Pod, below string) string {
	volumes := map[string]core.VolumeSource{}
	for _, v := range pod.Spec.Volumes {
		volumes[v.Name] = v.VolumeSource
	}
	var lines []string
	for _, m := range pod.Spec.Containers[0].VolumeMounts {
		rel, ok := strings.CutPrefix(m.MountPath, below+"/")
		if !ok || strings.HasPrefix(rel, "notes") {
			continue
		}
		mode, kind := "rw", "space"
		if m.ReadOnly {
			mode = "ro"
		}
		if h := volumes[m.Name].HostPath; h != nil {
			kind = string(*h.Type)
			if h.Path != m.MountPath {
				kind += " " + h.Path
			}
		}
		lines = append(lines, rel+" "+mode+" "+kind+"\n")
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// describe is a network policy in words, one rule a line.
func describe(net networking.NetworkPolicy) string {
	var b strings.Builder
	ports := func(list []networking.NetworkPolicyPort) string {
		var out []string
		for _, p := range list {
			word := fmt.Sprintf("%s %s", *p.Protocol, p.Port.String())
			if p.EndPort != nil {
				word += fmt.Sprintf("-%d", *p.EndPort)
			}
			out = append(out, word)
		}
		return strings.Join(out, ", ")
	}
	for _, e := range net.Spec.Egress {
		var to []string
		for _, p := range e.To {
			word := p.IPBlock.CIDR
			if len(p.IPBlock.Except) > 0 {
				word += " without " + strings.Join(p.IPBlock.Except, " ")
			}
			to = append(to, word)
		}
		fmt.Fprintf(&b, "egress %s to %s\n", strings.Join(to, " and "), ports(e.Ports))
	}
	for _, i := range net.Spec.Ingress {
		fmt.Fprintf(&b, "ingress any to %s\n", ports(i.Ports))
	}
	return b.String()
}
