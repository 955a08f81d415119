package integration

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAskNetwork: a host is asked about once, before its name leaves the box; what is allowed is reached, "always" writes the name with the port
// the program went on to use, and what is denied is neither looked up nor reached.
func TestAskNetwork(t *testing.T) {
	outside(t, func(t *testing.T, w *world) {
		if controlOnly() {
			return
		}
		for name, at := range map[string]string{"one.test": "203.0.113.5", "two.test": "203.0.113.5", "office.test": "10.9.8.7", "never.test": "203.0.113.9", "metadata.google.internal": "169.254.169.254"} {
			w.names.set(name, fixed(at))
		}
		w.web(t, "203.0.113.5:8080", http.HandlerFunc(pageOf))
		w.web(t, "203.0.113.5:8081", http.HandlerFunc(pageOf))
		w.web(t, "10.9.8.7:8080", http.HandlerFunc(pageOf))
		w.web(t, "127.0.0.1:8082", http.HandlerFunc(pageOf))
		const program = `import urllib.request, urllib.error
for where in ("one.test:8080", "one.test:8080", "one.test:8081", "two.test:8080", "never.test:8080", "never.test:8080",
              "203.0.113.5:8081", "127.0.0.1:8082", "office.test:8080", "metadata.google.internal:80", "169.254.169.254:80"):
    try: print("got", urllib.request.urlopen("http://" + where + "/", timeout=20).status, where, flush=True)
    except urllib.error.URLError as e: print("none", where, type(e.reason).__name__, flush=True)
print("end", flush=True)
`
		askingAt(t, "", program, func(t *testing.T, s scene, start func() *console) {
			k := start()
			for _, step := range []struct{ asked, key, then string }{
				{"connect one.test", "a", `.py-sandboxes:4 added: "one.test:8080" = "connect"  # asked`},
				{"connect one.test:8081", "o", "got 200 one.test:8081"},
				{"connect two.test", "o", "got 200 two.test:8080"},
				{"connect never.test", "d", "none never.test:8080 gaierror"},
				{"connect 203.0.113.5:8081", "o", "got 200 203.0.113.5:8081"},
				{"connect 127.0.0.1:8082", "o", "got 200 127.0.0.1:8082"},
				{"connect office.test", "o", ""},
				{"private office.test:8080", "o", "got 200 office.test:8080"},
			} {
				k.expect("ask: " + step.asked + "\r\n")
				k.expect(askPrompt)
				k.line(step.key, step.then)
			}
			k.expect("end")
			k.ends("0")
			shown := k.shown()
			if n := strings.Count(shown, askPrompt); n != 8 {
				t.Errorf("asked %d times, want 8", n)
			}
			if n := strings.Count(shown, "got 200 one.test:8080"); n != 2 {
				t.Errorf("one.test answered %d times, want 2", n)
			}
			w.names.onlyFor(t, "one.test", "two.test", "office.test")
			w.names.forget()
			b, err := os.ReadFile(filepath.Join(s.project, ".py-sandboxes"))
			must(t, err)
			if want := "version = 1\n\n[net]  # connect, listen, deny; private beside connect: the name may lead into the own networks\n\"one.test:8080\" = \"connect\"  # asked\n\n" + kernelTables; string(b) != want {
				t.Errorf("the policy is\n%s\nwant\n%s", b, want)
			}
		})
	})
}
