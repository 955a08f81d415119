package integration

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
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

// TestNetworkUnixSockets: with a rule on one socket of the host that one is reached, also by a link, and no other: no path, no abstract name,
// no datagram socket (K16).
func TestNetworkUnixSockets(t *testing.T) {
	outside(t, func(t *testing.T, w *world) {
		raid(t, []string{"sockets.py"}, func(t *testing.T, s trial, program string) string {
			ruled, other, ruledPath, otherPath := s.hostSockets(t, w)
			abstract, second := w.gate(t, "unix", "@"+s.word), w.gate(t, "unix", "@"+ruledPath)
			boxes := []*mailbox{letterBox(t, otherPath+".l"), letterBox(t, "@"+s.word+".l")}
			s.net(t, "\"unix:"+ruledPath+"\" = \"connect\"\n", "[files]\n\"shared/\" = \"write\"\n\"run/\" = \"read\"\n")
			r := s.ventures(t, program, ruledPath, otherPath, s.word)
			if ways := ruled.visits(t); !slices.Contains(ways, "ruled") || !slices.Contains(ways, "ruled by a link") {
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

// TestNetworkUnixSocketsRaced: a link that is turned, or a path that is changed, while connect runs never leads to a socket without a rule.
func TestNetworkUnixSocketsRaced(t *testing.T) {
	outside(t, func(t *testing.T, w *world) {
		raid(t, []string{"links.c"}, func(t *testing.T, s trial, program string) string {
			ruled, other, ruledPath, otherPath := s.hostSockets(t, w)
			s.net(t, "\"unix:"+ruledPath+"\" = \"connect\"\n", "[files]\n\"shared/\" = \"write\"\n\"run/\" = \"read\"\n")
			seconds := raceSeconds(s, program)
			if seconds == "8" {
				seconds = "3"
			}
			r := s.ventures(t, program, seconds, ruledPath, otherPath, "/tmp/link-"+s.word)
			if m := regexp.MustCompile(`connected [1-9]`).FindAllString(r.out, -1); len(m) != 2 || len(ruled.visits(t)) == 0 {
				t.Errorf("the race was none: %v", r)
			}
			if n := len(other.visits(t)); n > 0 {
				return fmt.Sprintf("the other socket %d times", n)
			}
			return ""
		})
	})
}

// TestNetworkForeignSockets: sockets that a server of the host hands over are the host's. Nothing is connected with them that no rule names.
func TestNetworkForeignSockets(t *testing.T) {
	outside(t, func(t *testing.T, w *world) {
		raid(t, []string{"passes.py"}, func(t *testing.T, s trial, program string) string {
			bad, mail, abstract := w.gate(t, "tcp", "203.0.113.6:9090"), w.mailbox(t, "203.0.113.6:124"), w.gate(t, "unix", "@"+s.word)
			s.put(t, "run/file", "")
			path := filepath.Join(s.dir, "run", "server")
			server := listen(t, "unix", path)
			must(t, os.Chmod(path, 0o777))
			go handOver(server)
			s.net(t, "\"unix:"+path+"\" = \"connect\"\n")
			served := ""
			r := s.started(t, s.watch(t, call{argv: s.words(t, program, nil, path, "203.0.113.6", "9090", "124", s.word)}, func() {
				for _, place := range listeners(t) {
					if strings.HasPrefix(place, "203.0.113.6:") && place != "203.0.113.6:9090" {
						served = "a server at " + place
					}
				}
			}))
			ways := slices.Concat(bad.visits(t), mail.mail(t), abstract.visits(t))
			if served != "" {
				ways = append(ways, served)
			}
			bad.listener.Close()
			mail.conn.Close()
			server.Close()
			if !s.boxed && len(ways) != 6 {
				t.Errorf("control: only %q: %v", ways, r)
			}
			if len(ways) > 0 {
				return fmt.Sprintf("places without a rule by %q", ways)
			}
			return ""
		})
	})
}

// handOver gives everybody who comes four sockets that lead nowhere yet.
func handOver(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		var fds []int
		for _, kind := range [][2]int{{unix.AF_INET, unix.SOCK_STREAM}, {unix.AF_INET, unix.SOCK_DGRAM}, {unix.AF_UNIX, unix.SOCK_STREAM}, {unix.AF_INET, unix.SOCK_STREAM}} {
			if fd, err := unix.Socket(kind[0], kind[1]|unix.SOCK_CLOEXEC, 0); err == nil {
				fds = append(fds, fd)
			}
		}
		c.(*net.UnixConn).WriteMsgUnix([]byte("x"), unix.UnixRights(fds...), nil)
		for _, fd := range fds {
			unix.Close(fd)
		}
		c.Close()
	}
}
