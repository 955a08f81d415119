package integration

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// TestNetworkKernel: a notebook server outside starts a kernel in the box, reaches it at the ports that a rule names, runs cells and interrupts
// one that sleeps; the kernel itself reaches nothing.
func TestNetworkKernel(t *testing.T) {
	outside(t, func(t *testing.T, w *world) {
		for _, who := range people() {
			t.Run(who.name, func(t *testing.T) {
				for _, boxed := range []bool{false, true} {
					if boxed && controlOnly() {
						return
					}
					s := trial{scene: newScene(t, who)}
					_, err := s.choose(t, "system", []string{"jupyter_client", "ipykernel"})
					ledger.Need(t, "jupyter", err)
					bad := w.gate(t, "tcp", "203.0.113.6:9090")
					s.takes(t, "kernel.py")
					s.files(t, map[string]string{"run/file": ""})
					s.net(t, "\"127.0.0.1:45001-45005\" = \"listen\"\n", "[env]\nIPYTHONDIR = \"/tmp/ipython\"\n", "[files]\n\"run/\" = \"write\"\n\"./\" = \"list\"\n")
					kernel := []string{systemPython, "-m", "ipykernel_launcher", "-f", "{connection_file}", "--HistoryManager.enabled=False"}
					if boxed {
						kernel = slices.Concat([]string{psb(t), "--policy", ".py-sandboxes", "--python", systemPython}, kernel[1:])
					}
					r := s.run(t, call{argv: append([]string{systemPython, "kernel.py"}, kernel...), env: []string{"IPYTHONDIR=" + s.home + "/.ipython"}, timeout: 3 * time.Minute})
					want := "'42\\n' ok \n'sleeping\\n' error KeyboardInterrupt\n'still here\\n' ok \n'' error FileNotFoundError\n"
					last := map[bool]string{false: "'' ok \nalive: False\n", true: "'' error PermissionError\nalive: False\n"}[boxed]
					if r.code != 0 || r.out != want+last {
						t.Errorf("boxed %v: %v", boxed, r)
					}
					if ways := bad.visits(t); len(ways) > 0 == boxed {
						t.Errorf("boxed %v: a host without a rule was reached by %q", boxed, strings.Join(ways, " "))
					}
					bad.listener.Close()
				}
			})
		}
	})
}
