package integration

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opencontainers/runtime-spec/specs-go"
	core "k8s.io/api/core/v1"
)

// bundle is what a node's runtime makes of the Deployment's pod: its securityContext, its command and its volume, on the host's own /usr.
func (c *cluster) bundle(t *testing.T, dir string) *specs.Spec {
	t.Helper()
	pod, container := c.Deployment.Spec.Template.Spec, c.container()
	sec := container.SecurityContext
	if pod.SecurityContext.SeccompProfile.Type != core.SeccompProfileTypeUnconfined || len(sec.Capabilities.Add) > 0 || *pod.HostUsers {
		t.Fatal("the pod is another one than this bundle")
	}
	s := &specs.Spec{Version: specs.Version, Root: &specs.Root{Path: "rootfs", Readonly: *sec.ReadOnlyRootFilesystem},
		Process: &specs.Process{User: specs.User{UID: uint32(*pod.SecurityContext.RunAsUser), GID: uint32(*pod.SecurityContext.RunAsGroup)}, Args: append(append([]string{}, container.Command...), container.Args...),
			Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin"}, Cwd: "/", NoNewPrivileges: !*sec.AllowPrivilegeEscalation, Capabilities: &specs.LinuxCapabilities{}},
		Linux: &specs.Linux{UIDMappings: []specs.LinuxIDMapping{{ContainerID: 0, HostID: 1 << 20, Size: 1 << 16}}, GIDMappings: []specs.LinuxIDMapping{{ContainerID: 0, HostID: 1 << 20, Size: 1 << 16}}}}
	for _, kind := range []specs.LinuxNamespaceType{specs.UserNamespace, specs.MountNamespace, specs.PIDNamespace, specs.IPCNamespace, specs.UTSNamespace, specs.NetworkNamespace, specs.CgroupNamespace} {
		s.Linux.Namespaces = append(s.Linux.Namespaces, specs.LinuxNamespace{Type: kind})
	}
	if sec.ProcMount == nil || *sec.ProcMount != core.UnmaskedProcMount { // as runtimes do without the line
		s.Linux.MaskedPaths = []string{"/proc/kcore", "/proc/keys", "/proc/timer_list"}
		s.Linux.ReadonlyPaths = []string{"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"}
	}
	s.Mounts = []specs.Mount{{Destination: "/proc", Type: "proc", Source: "proc"},
		{Destination: "/dev", Type: "tmpfs", Source: "tmpfs", Options: []string{"nosuid", "mode=755", "size=64k"}},
		{Destination: "/sys", Type: "none", Source: "/sys", Options: []string{"rbind", "ro", "nosuid", "nodev", "noexec"}}}
	bind := func(from, to string) {
		s.Mounts = append(s.Mounts, specs.Mount{Destination: to, Type: "none", Source: from, Options: []string{"rbind", "ro"}})
	}
	root := filepath.Join(dir, "rootfs")
	for _, d := range []string{"tmp", "var/tmp", "etc", "run"} { // what any image has
		must(t, os.MkdirAll(filepath.Join(root, d), 0o755))
	}
	for _, d := range []string{"/bin", "/sbin", "/lib", "/lib64"} {
		if to, err := os.Readlink(d); err == nil {
			must(t, os.Symlink(to, filepath.Join(root, d)))
		} else if _, err := os.Stat(d); err == nil {
			bind(d, d)
		}
	}
	for _, d := range []string{"/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib64", "/usr/share"} {
		if _, err := os.Stat(d); err == nil {
			bind(d, d)
		}
	}
	bind(psb(t), container.Command[0])
	sum := sha256.Sum256([]byte("secret"))
	must(t, os.MkdirAll(filepath.Join(dir, "tokens"), 0o755))
	must(t, os.WriteFile(filepath.Join(dir, "tokens", "tokens"), []byte("alice "+hex.EncodeToString(sum[:])+"\n"), 0o644))
	bind(filepath.Join(dir, "tokens"), container.VolumeMounts[0].MountPath)
	for _, m := range s.Mounts {
		at := filepath.Join(root, m.Destination)
		if fi, err := os.Stat(m.Source); err == nil && filepath.IsAbs(m.Source) && !fi.IsDir() {
			must(t, os.MkdirAll(filepath.Dir(at), 0o755))
			must(t, os.WriteFile(at, nil, 0o755))
			continue
		}
		must(t, os.MkdirAll(at, 0o755))
	}
	text, err := json.Marshal(s)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "config.json"), text, 0o644))
	return s
}

// asksThePod asks the three ports of what a cluster asks, from inside the pod: it has no network to the outside here.
const asksThePod = `import json, time, urllib.request
def get(url):
    for _ in range(600):
        try:
            return urllib.request.urlopen(url, timeout=60).read().decode()
        except OSError as e:
            time.sleep(0.05)
    return "nobody there"
print(get("http://127.0.0.1:9090/healthz"), get("http://127.0.0.1:9090/readyz"), "psb_" in get("http://127.0.0.1:9090/metrics"))
body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "run_python", "arguments": {"code": "import os; open('f', 'w').write('x'); (6 * 7, os.path.exists('/etc/psb'), os.listdir('/proc/1') != [])"},
    "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}}}
head = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "run_python"}
def call(host, **more):
    r = urllib.request.Request("http://127.0.0.1:8080/mcp", json.dumps(body).encode(), {**head, "Host": host, **more})
    try:
        return urllib.request.urlopen(r, timeout=60).read().decode()
    except urllib.error.HTTPError as e:
        return str(e.code)
print(call("psb-mcp.psb-mcp.svc"), call("other.example", Authorization="Bearer secret"))
print(call("psb-mcp.psb-mcp.svc", Authorization="Bearer secret"))
`

// TestKubernetesPod: the Deployment's container as a runtime starts it serves, and makes boxes; without a whole /proc no code runs.
func TestKubernetesPod(t *testing.T) {
	besideOthers(t)
	if controlOnly() {
		t.Skip("needs psb")
	}
	runc := tool(t, "runc")
	if os.Getuid() != 0 {
		ledger.Need(t, "root", os.ErrPermission)
	}
	for name, masked := range map[string]bool{"as it stands": false, "without procMount": true} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, person{"root", 0, 0})
			c := manifestsOf(t)
			if masked {
				c.container().SecurityContext.ProcMount = nil
			}
			dir := filepath.Join(s.dir, "pod")
			must(t, os.MkdirAll(dir, 0o755))
			must(t, os.Chmod(s.dir, 0o755))
			c.bundle(t, dir)
			id, state := "psb-pod-"+s.word, filepath.Join(s.dir, "runc")
			said, err := os.Create(filepath.Join(s.dir, "said"))
			must(t, err)
			t.Cleanup(func() { said.Close() })
			runcs := func(words ...string) result {
				return s.run(t, call{argv: append([]string{runc, "--root", state}, words...)})
			}
			if r := s.run(t, call{argv: []string{"/bin/sh", "-c", fmt.Sprintf("exec %s --root %s run --detach --bundle %s %s >%s 2>&1 </dev/null", runc, state, dir, id, said.Name())}}); r.code != 0 {
				text, _ := os.ReadFile(said.Name())
				t.Fatalf("%v\n%s", r, text)
			}
			t.Cleanup(func() { runcs("delete", "--force", id) })
			r := runcs("exec", id, systemPython, "-I", "-c", asksThePod)
			if r.code != 0 || !strings.HasPrefix(r.out, "ok\n ready\n True\n401 403\n") {
				text, _ := os.ReadFile(said.Name())
				t.Fatalf("%v\n%s", r, text)
			}
			want := `"text":"(42, False, True)"`
			if masked {
				want = "refused: mounts: fsmount proc for /proc: operation not permitted"
			}
			if !strings.Contains(r.out, want) || masked == strings.Contains(r.out, `"status":"ok"`) {
				t.Errorf("%q is not in %s", want, r.out)
			}
			if r := runcs("kill", id, "TERM"); r.code != 0 {
				t.Error(r)
			}
			until(t, "the container ended", func() bool { return strings.Contains(runcs("state", id).out, `"stopped"`) })
		})
	}
}
