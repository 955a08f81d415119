package integration

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	disruption "k8s.io/api/policy/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// cluster is what docs/kubernetes holds, in the API's own types.
type cluster struct {
	Namespace  core.Namespace
	Deployment apps.Deployment
	Service    core.Service
	Policy     networking.NetworkPolicy
	Budget     disruption.PodDisruptionBudget
	Ingress    networking.Ingress
}

// into gives the place of a kind.
func (c *cluster) into(kind meta.TypeMeta) any {
	switch kind.APIVersion + " " + kind.Kind {
	case "v1 Namespace":
		return &c.Namespace
	case "apps/v1 Deployment":
		return &c.Deployment
	case "v1 Service":
		return &c.Service
	case "networking.k8s.io/v1 NetworkPolicy":
		return &c.Policy
	case "policy/v1 PodDisruptionBudget":
		return &c.Budget
	case "networking.k8s.io/v1 Ingress":
		return &c.Ingress
	}
	return nil
}

// manifestsOf decodes every file below docs/kubernetes; a field that the API does not know, or of another type, is an error.
func manifestsOf(t *testing.T) *cluster {
	t.Helper()
	c, files := &cluster{}, 0
	must(t, filepath.WalkDir("../docs/kubernetes", func(name string, e fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) != ".yaml" {
			return err
		}
		text, err := os.ReadFile(name)
		must(t, err)
		var kind meta.TypeMeta
		must(t, yaml.Unmarshal(text, &kind))
		into := c.into(kind)
		if into == nil {
			t.Fatalf("%s: %s %s is none of the kinds that are checked", name, kind.APIVersion, kind.Kind)
		}
		if err := yaml.UnmarshalStrict(text, into); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		files++
		return nil
	}))
	if files != 6 || c.Deployment.Name == "" || c.Ingress.Name == "" {
		t.Fatalf("%d manifests", files)
	}
	return c
}

// options are those of psb mcp in the Deployment, by name.
func (c *cluster) options(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for _, word := range c.container().Args {
		name, value, _ := strings.Cut(strings.TrimPrefix(word, "--"), "=")
		if !strings.HasPrefix(word, "--") {
			t.Errorf("%q is no option", word)
		}
		out[name] = append(out[name], value)
	}
	return out
}

func (c *cluster) container() *core.Container { return &c.Deployment.Spec.Template.Spec.Containers[0] }

// TestKubernetesManifests: the files of docs/kubernetes are the API's, they fit each other, and their options are psb mcp's.
func TestKubernetesManifests(t *testing.T) {
	c := manifestsOf(t)
	pod, container, options := c.Deployment.Spec.Template, c.container(), c.options(t)
	if !slices.Equal(container.Command, []string{"/usr/local/bin/psb", "mcp"}) {
		t.Errorf("the command is %q", container.Command)
	}
	if !controlOnly() {
		help := newScene(t, people()[0]).run(t, call{argv: []string{psb(t), "help", "mcp"}}).out
		for name := range options {
			if !strings.Contains(help, "      --"+name+" ") {
				t.Errorf("psb mcp has no option --%s", name)
			}
		}
	}
	port := func(name string) string {
		for _, p := range container.Ports {
			if p.Name == name {
				return strconv.Itoa(int(p.ContainerPort))
			}
		}
		t.Errorf("the container has no port %q", name)
		return ""
	}
	one := func(name string) string { return strings.Join(options[name], " ") }
	if one("http") != ":"+port("mcp") || one("health") != ":"+port("health") || pod.Annotations["prometheus.io/port"] != port("health") || pod.Annotations["prometheus.io/path"] != "/metrics" {
		t.Errorf("ports: --http %s, --health %s, %v", one("http"), one("health"), pod.Annotations)
	}
	for path, probe := range map[string]*core.Probe{"/healthz": container.LivenessProbe, "/readyz": container.ReadinessProbe} {
		if probe.HTTPGet.Path != path || probe.HTTPGet.Port.StrVal != "health" {
			t.Errorf("%s: %v", path, probe.HTTPGet)
		}
	}
	service, backend := c.Service.Spec.Ports[0], c.Ingress.Spec.Rules[0].HTTP.Paths[0]
	if service.TargetPort.StrVal != "mcp" || service.Port != 80 || backend.Path != "/mcp" || backend.Backend.Service.Name != c.Service.Name || backend.Backend.Service.Port.Name != service.Name {
		t.Errorf("%v, %v", service, backend)
	}
	for what, labels := range map[string]map[string]string{"the Deployment": c.Deployment.Spec.Selector.MatchLabels, "the Service": c.Service.Spec.Selector,
		"the NetworkPolicy": c.Policy.Spec.PodSelector.MatchLabels, "the PodDisruptionBudget": c.Budget.Spec.Selector.MatchLabels} {
		if len(labels) == 0 || !covers(pod.Labels, labels) {
			t.Errorf("%s does not mean the pods: %v", what, labels)
		}
	}
	for what, o := range map[string]meta.ObjectMeta{"Deployment": c.Deployment.ObjectMeta, "Service": c.Service.ObjectMeta, "NetworkPolicy": c.Policy.ObjectMeta, "PodDisruptionBudget": c.Budget.ObjectMeta, "Ingress": c.Ingress.ObjectMeta} {
		if o.Namespace != c.Namespace.Name {
			t.Errorf("%s is in the namespace %q", what, o.Namespace)
		}
	}
	hosts := strings.Split(one("allow-host"), ",")
	for _, name := range []string{c.Service.Name, c.Service.Name + "." + c.Service.Namespace, c.Service.Name + "." + c.Service.Namespace + ".svc"} {
		if !slices.Contains(hosts, name) {
			t.Errorf("--allow-host lacks the Service's name %s", name)
		}
	}
	if len(c.Policy.Spec.Egress) != 0 || !slices.Contains(c.Policy.Spec.PolicyTypes, networking.PolicyTypeEgress) {
		t.Error("pods may begin connections")
	}
	volume, mount := pod.Spec.Volumes[0], container.VolumeMounts[0]
	if volume.Name != mount.Name || volume.Secret == nil || *volume.Secret.DefaultMode&0o022 != 0 || filepath.Dir(one("tokens")) != mount.MountPath {
		t.Errorf("tokens: %v at %v", volume, mount)
	}
}

func covers(all, some map[string]string) bool {
	for k, v := range some {
		if all[k] != v {
			return false
		}
	}
	return true
}

// TestKubernetesFigures: the pod outlives psb's grace, and has the memory that its slots may take.
func TestKubernetesFigures(t *testing.T) {
	c := manifestsOf(t)
	options := c.options(t)
	grace, err := time.ParseDuration(options["grace"][0])
	must(t, err)
	if most := time.Duration(*c.Deployment.Spec.Template.Spec.TerminationGracePeriodSeconds) * time.Second; most < grace+10*time.Second {
		t.Errorf("the pod ends %v after SIGTERM, --grace is %v and what is left then has ten seconds", most, grace)
	}
	slots, err := strconv.Atoi(options["slots"][0])
	must(t, err)
	at := slices.IndexFunc(options["max"], func(s string) bool { return strings.HasPrefix(s, "memory_mb=") })
	each, err := strconv.Atoi(strings.TrimPrefix(options["max"][at], "memory_mb="))
	must(t, err)
	if has, need := c.container().Resources.Limits.Memory().Value(), int64(slots*each+512)<<20; has < need {
		t.Errorf("the pod has %d bytes, its slots and psb may take %d", has, need)
	}
}

// TestKubernetesIsStrict: the check of the manifests can fail.
func TestKubernetesIsStrict(t *testing.T) {
	text, err := os.ReadFile("../docs/kubernetes/deployment.yaml")
	must(t, err)
	for from, to := range map[string]string{"hostUsers:": "hostUser:", "procMount:": "procMounts:", "replicas: 3": "replicas: three"} {
		var d apps.Deployment
		if err := yaml.UnmarshalStrict([]byte(strings.Replace(string(text), from, to, 1)), &d); err == nil {
			t.Errorf("%s is taken", to)
		}
	}
}

// TestKubernetesPageNamesLines: each line of the page's table about the pod stands in the Deployment.
func TestKubernetesPageNamesLines(t *testing.T) {
	page, err := os.ReadFile("../docs/kubernetes/README.md")
	must(t, err)
	text, err := os.ReadFile("../docs/kubernetes/deployment.yaml")
	must(t, err)
	flat := regexp.MustCompile(`Profile:\s+type: `).ReplaceAllString(string(text), "Profile: ")
	n := 0
	for row := range strings.Lines(string(page)) {
		if !strings.HasPrefix(row, "| `") || !strings.Contains(row, ": ") {
			continue
		}
		for _, m := range regexp.MustCompile("`([a-zA-Z]+: [^`]+)`").FindAllStringSubmatch(strings.Split(row, " | ")[0], -1) {
			if n++; !strings.Contains(flat, m[1]) {
				t.Errorf("the page tells of %s, the Deployment has no such line", m[1])
			}
		}
	}
	if n < 8 {
		t.Errorf("%d lines were found", n)
	}
	if !strings.Contains(string(page), fmt.Sprintf("its %s", "2560 MiB")) {
		t.Error("the page's figure of the pod's memory")
	}
}
