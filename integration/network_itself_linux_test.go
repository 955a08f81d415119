package integration

import (
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestNetworkWorld holds the scene itself: what the tests of the network rest on is really there, and nothing else is.
func TestNetworkWorld(t *testing.T) {
	outside(t, func(t *testing.T, w *world) {
		w.names.set("web.test", fixed("203.0.113.5", "2001:db8::1"))
		door := w.gate(t, "tcp", "203.0.113.5:8080")
		go http.Serve(listen(t, "tcp", "203.0.113.5:80"), http.NotFoundHandler())
		box := w.mailbox(t, "192.0.2.9:123")
		for _, who := range people() {
			s := newScene(t, who)
			r := s.run(t, call{argv: []string{systemPython, "-c", `
import socket, sys
print(*sorted({a[4][0] for a in socket.getaddrinfo("web.test", 8080)}))
c = socket.create_connection(("web.test", 8080)); c.sendall(b"hello\n"); f = c.makefile(); print(f.readline(), f.readline(), sep="", end="")
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); u.sendto(b"hi", ("192.0.2.9", 123)); print(*u.recvfrom(9))
for name in ("unknown.test", "example.com"):
    try: socket.getaddrinfo(name, 80)
    except socket.gaierror as e: print(e.args[0] == socket.EAI_NONAME)
try: socket.create_connection(("8.8.8.8", 53), 5)
except OSError as e: print(e.strerror)
print(sorted(n for _, n in socket.if_nameindex()))
`}})
			want := "2001:db8::1 203.0.113.5\ngate 203.0.113.5:8080\nhello\nb'hi' ('192.0.2.9', 123)\nTrue\nTrue\nNetwork is unreachable\n['lo']\n"
			if !hasIPv6() {
				want = strings.Replace(want, "2001:db8::1 ", "", 1)
			}
			if r.code != 0 || r.out != want {
				t.Errorf("%s: %v\nwant\n%s", who.name, r, want)
			}
		}
		if got := door.visits(t); len(got) != len(people()) || got[0] != "hello" {
			t.Errorf("the door saw %q", got)
		}
		if got := box.mail(t); len(got) != len(people()) {
			t.Errorf("the mailbox got %q", got)
		}
		var asked []string
		for _, q := range w.names.asked() {
			asked = append(asked, q.name)
		}
		for _, want := range []string{"web.test.", "unknown.test.", "example.com."} {
			if !strings.Contains(strings.Join(asked, " "), want) {
				t.Errorf("the name server was asked for %q, not for %s", asked, want)
			}
		}
		if _, err := net.Dial("tcp", "203.0.113.5:80"); err != nil {
			t.Error(err)
		}
		must(t, exec.Command("setsid", "sleep", "1000").Start()) // the world ends it
	})
	if os.Getenv(worldStage) != "" {
		return
	}
	for _, p := range withWord(t, "sleep 1000") {
		t.Errorf("outlives its world: %v", p)
	}
}
