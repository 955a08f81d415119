package integration

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestNetworkAttackForeignSockets: sockets that a server of the host hands over are the host's. Nothing is connected with them that no rule names.
// A datagram socket needs no connecting: who rules a server that hands one over trusts it with that (docs/limits.md).
func TestNetworkAttackForeignSockets(t *testing.T) {
	outside(t, func(t *testing.T, w *world) {
		raid(t, []string{"passes.py"}, func(t *testing.T, s trial, program string) string {
			bad, abstract := w.gate(t, "tcp", "203.0.113.6:9090"), w.gate(t, "unix", "@"+s.word)
			s.put(t, "run/file", "")
			path := filepath.Join(s.dir, "run", "server")
			server := listen(t, "unix", path)
			must(t, os.Chmod(path, 0o777))
			go handOver(server)
			s.net(t, "\"unix:"+path+"\" = \"connect\"\n")
			served := ""
			r := s.started(t, s.watch(t, call{argv: s.words(t, program, nil, path, "203.0.113.6", "9090", s.word)}, func() {
				for _, place := range listeners(t) {
					if strings.HasPrefix(place, "203.0.113.6:") && place != "203.0.113.6:9090" {
						served = "a server at " + place
					}
				}
			}))
			ways := slices.Concat(bad.visits(t), abstract.visits(t))
			if served != "" {
				ways = append(ways, served)
			}
			bad.listener.Close()
			server.Close()
			if !s.boxed && len(ways) != 3 {
				t.Errorf("control: only %q: %v", ways, r)
			}
			if len(ways) > 0 {
				return fmt.Sprintf("places without a rule by %q: %v", ways, r)
			}
			return ""
		})
	})
}

// handOver gives everybody who comes three sockets that lead nowhere yet.
func handOver(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		var fds []int
		for _, kind := range [][2]int{{unix.AF_INET, unix.SOCK_STREAM}, {unix.AF_UNIX, unix.SOCK_STREAM}, {unix.AF_INET, unix.SOCK_STREAM}} {
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
