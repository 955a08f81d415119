package integration

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// hostSockets are a ruled socket and another one, in folders of the project that are granted; everybody may connect to both.
func (s trial) hostSockets(t *testing.T, w *world) (ruled, other *gate, ruledPath, otherPath string) {
	t.Helper()
	s.files(t, map[string]string{"run/file": "", "shared/file": ""})
	ruledPath, otherPath = filepath.Join(s.project, "run", "ruled"), filepath.Join(s.project, "shared", "other")
	ruled, other = w.gate(t, "unix", ruledPath), w.gate(t, "unix", otherPath)
	for _, path := range []string{ruledPath, otherPath} {
		must(t, os.Chmod(path, 0o777))
	}
	return ruled, other, ruledPath, otherPath
}

// letterBox is a unix datagram socket of the host.
func letterBox(t *testing.T, name string) *mailbox {
	t.Helper()
	c, err := net.ListenPacket("unixgram", name)
	must(t, err)
	if filepath.IsAbs(name) {
		must(t, os.Chmod(name, 0o777))
	}
	m := &mailbox{conn: c}
	t.Cleanup(func() { c.Close() })
	go func() {
		for {
			b := make([]byte, 4096)
			n, _, err := c.ReadFrom(b)
			if err != nil {
				return
			}
			m.mu.Lock()
			m.got = append(m.got, b[:n])
			m.mu.Unlock()
		}
	}()
	return m
}

// TestUnixSocketsRuled: with a rule on one socket of the host that one is reached, and no other: no path, no abstract name,
// no datagram socket.
func TestUnixSocketsRuled(t *testing.T) {
	outside(t, func(t *testing.T, w *world) {
		raid(t, []string{"sockets.py"}, func(t *testing.T, s trial, program string) string {
			ruled, other, ruledPath, otherPath := s.hostSockets(t, w)
			abstract, second := w.gate(t, "unix", "@"+s.word), w.gate(t, "unix", "@"+ruledPath)
			boxes := []*mailbox{letterBox(t, otherPath+".l"), letterBox(t, "@"+s.word+".l")}
			s.net(t, "\"unix:"+ruledPath+"\" = \"connect\"\n", "[files]\n\"shared/\" = \"write\"\n\"run/\" = \"read\"\n")
			r := s.ventures(t, program, ruledPath, otherPath, s.word)
			if ways := ruled.visits(t); !slices.Contains(ways, "ruled") {
				t.Errorf("the ruled socket was reached by %q: %v", ways, r)
			}
			ways := slices.Concat(other.visits(t), abstract.visits(t), second.visits(t), boxes[0].mail(t), boxes[1].mail(t))
			if !s.boxed && len(ways) < 9 {
				t.Errorf("control: only %q: %v", ways, r)
			}
			if len(ways) > 0 {
				return fmt.Sprintf("sockets without a rule by %q", ways)
			}
			return ""
		})
	})
}

// TestUnixSocketRuledByLink: the socket that a rule names is the same socket by a link: one of the host's, as /var/run is, whichever of the
// two the rule names.
func TestUnixSocketRuledByLink(t *testing.T) {
	outside(t, func(t *testing.T, w *world) {
		for _, who := range people() {
			for _, boxed := range []bool{false, true} {
				if boxed && controlOnly() {
					return
				}
				for _, c := range []struct{ ruled, used string }{{"real", "alias"}, {"alias", "real"}, {"alias", "alias"}} {
					s := trial{scene: newScene(t, who), boxed: boxed}
					s.takes(t, "linked.py")
					s.put(t, "real/file", "")
					must(t, os.Symlink("real", filepath.Join(s.dir, "alias")))
					gate := w.gate(t, "unix", filepath.Join(s.dir, "real", "door"))
					must(t, os.Chmod(filepath.Join(s.dir, "real", "door"), 0o777))
					s.net(t, fmt.Sprintf("%q = \"connect\"\n", "unix:"+filepath.Join(s.dir, c.ruled, "door")))
					path := filepath.Join(s.dir, c.used, "door")
					r := s.run(t, call{argv: s.words(t, "linked.py", nil, path)})
					if ways := gate.visits(t); len(ways) != 1 {
						t.Errorf("%s, boxed %v, the rule names the %s one, the program uses the %s one: %v", who.name, boxed, c.ruled, c.used, r)
					}
				}
			}
		}
	})
}

// TestNetworkAttackRacedSockets: a link that is turned, or a path that is changed, while connect runs never leads to a socket without a rule.
func TestNetworkAttackRacedSockets(t *testing.T) {
	outside(t, func(t *testing.T, w *world) {
		raid(t, []string{"links.c"}, func(t *testing.T, s trial, program string) string {
			ruled, other, ruledPath, otherPath := s.hostSockets(t, w)
			s.net(t, "\"unix:"+ruledPath+"\" = \"connect\"\n", "[files]\n\"shared/\" = \"write\"\n\"run/\" = \"read\"\n")
			seconds := raceSeconds(s, program, "2")
			r := s.ventures(t, program, seconds, ruledPath, otherPath, "/tmp/link-"+s.word)
			if !regexp.MustCompile(`path: connected [1-9]`).MatchString(r.out) || len(ruled.visits(t)) == 0 {
				t.Errorf("the race was none: %v", r)
			}
			if n := len(other.visits(t)); n > 0 {
				return fmt.Sprintf("the other socket %d times", n)
			}
			return ""
		})
	})
}
