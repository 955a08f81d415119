package integration

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestMCPTerminal: a person who starts psb mcp by hand is told what it waits for, and Ctrl-D ends it.
func TestMCPTerminal(t *testing.T) {
	besideOthers(t)
	s := atTerminal(t, people()[0])
	k := s.console(t, call{argv: []string{psb(t), "mcp"}})
	k.expect("psb: waiting for a client on stdin; psb mcp is started by clients: psb mcp install --client NAME adds it to one\r\n")
	k.send("\x04")
	k.ends("0")
}

// TestMCPFigures: what matplotlib drew comes back as an image though nothing saved it, frames of pandas come as values, and two calls share nothing.
func TestMCPFigures(t *testing.T) {
	besideOthers(t)
	for _, name := range []string{"matplotlib", "pandas"} {
		err := exec.Command(systemPython, "-c", "import "+name).Run()
		ledger.Need(t, name, err)
	}
	s := newScene(t, people()[0])
	a := s.agent(t, "--python", systemPython, "--max", "timeout_s=120")
	r := a.python("import matplotlib.pyplot as plt\nplt.plot([1, 2, 3])\nplt.show()\nopen('saved.txt', 'w').write('x')", "timeout_s", 100)
	r.want(t, "ok")
	images := 0
	for _, c := range r.Content {
		if c.Type == "image" && c.MimeType == "image/png" && strings.HasPrefix(string(c.Data), "\x89PNG") {
			images++
		}
	}
	if images != 1 {
		t.Errorf("%d images\n%s", images, r.text())
	}
	r = a.python("import pandas as pd, numpy as np\nd = pd.DataFrame({'a': [1, 2]})\nd['a'].sum()", "variables", []string{"d", "np.arange(3)"}, "timeout_s", 100)
	r.want(t, "ok", "3", "np.arange(3) = array([0, 1, 2])")
	a.python("import matplotlib.pyplot as plt\nlen(plt.get_fignums())", "timeout_s", 100).want(t, "ok", "0")
}

// TestMCPNetwork: without a way out nothing is reached; a profile's [net] lines count where the call asks for them, and only those.
func TestMCPNetwork(t *testing.T) {
	besideOthers(t)
	each(t, func(t *testing.T, s scene) {
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "reached") }))
		t.Cleanup(web.Close)
		other := httptest.NewServer(http.NotFoundHandler())
		t.Cleanup(other.Close)
		policy := s.put(t, "home/profiles/web.py-sandboxes", "version = 1\n[net]\n\""+strings.TrimPrefix(web.URL, "http://")+"\" = \"connect\"\n")
		s.give(t)
		a := s.agent(t, "--profiles", filepath.Dir(policy))
		get := func(url string) string {
			return fmt.Sprintf("import urllib.request\nurllib.request.urlopen(%q, timeout=5).read()", url)
		}
		a.python(get(web.URL)).want(t, "error")
		a.python(get(web.URL), "profile", "web").want(t, "error")
		a.python(get(web.URL), "profile", "web", "network", "profile").want(t, "ok", "reached")
		a.python(get(other.URL), "profile", "web", "network", "profile").want(t, "error")
		a.python(get(web.URL), "network", "profile").want(t, "error")
		a.python("1", "network", "host").want(t, "refused", "none of none, profile")
		r := a.python("import socket\nsocket.create_connection(('192.0.2.1', 80), 3)")
		r.want(t, "error", "denied: connect 192.0.2.1:80")
		a.python("import socket\nsocket.getaddrinfo('example.com', 80)").want(t, "error")
	})
}

// TestMCPLayerTakenAway: where a wall cannot be built no code runs, and the result says which, and that nothing was attempted.
func TestMCPLayerTakenAway(t *testing.T) {
	besideOthers(t)
	each(t, func(t *testing.T, s scene) {
		for _, wall := range []string{"landlock", "seccomp", "namespaces"} {
			s.walled(t, wall, psb(t), "version") // puts the walled copy into its place
			a := s.agentOf(t, call{argv: []string{filepath.Join(workshop, "bin", "outer"), psb(t), "mcp"}, env: []string{outerWall + "=" + wall}})
			r := a.python("print('it ran')")
			r.want(t, "refused")
			if strings.Contains(r.text(), "it ran") || r.Meta.Result.Cleanup.State != "NOT_ATTEMPTED" || !strings.Contains(strings.ToLower(r.text()), strings.TrimSuffix(wall, "s")) {
				t.Errorf("%s: %s %s", wall, r.Meta.Result.Cleanup.State, r.text())
			}
		}
	})
}

// TestMCPHoles: files that are larger than the workspace, because of holes or of many names for one, keep nobody waiting.
func TestMCPHoles(t *testing.T) {
	besideOthers(t)
	s := newScene(t, people()[0])
	a := s.agent(t)
	code := "import os\nopen('a-holes', 'w').truncate(1 << 40)\nopen('f', 'wb').write(bytes(1 << 20))\nfor i in range(1000): os.link('f', 'f%04d' % i)"
	for _, more := range [][]any{nil, {"session", "w"}} {
		a.python(code, more...).want(t, "ok", `file created "a-holes"`, "not taken along: not read: with holes")
	}
}
