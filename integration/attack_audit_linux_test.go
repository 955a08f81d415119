package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// auditAttacks are programs that are audited, not enforced: what they do must stay within the box, although nothing of it is refused.
func auditAttacks() []attack {
	const claim = "audit-changes-nothing"
	return []attack{
		{name: "audit/changes", claim: claim, audit: true, set: func(t *testing.T, s scene) attempt {
			var paths []string
			for _, name := range []string{"home/.bashrc", "home/code/project/emptied", "home/code/sibling/mode", "home/code/project/removed", "home/code/project/.git/config"} {
				paths = append(paths, s.put(t, name, "# kept\n"))
			}
			folder := filepath.Dir(s.put(t, "home/code/project/folder/kept", "kept\n"))
			s.put(t, "home/code/project/.git/HEAD", "ref: refs/heads/main\n")
			s.give(t)
			made := []string{filepath.Join(s.home, ".profile"), filepath.Join(s.project, ".git/hook"), filepath.Join(s.project, "new"), "/var/tmp/" + s.word}
			t.Cleanup(func() {
				list, _ := filepath.Glob("/var/tmp/" + s.word + "*")
				for _, name := range list {
					os.Remove(name)
				}
			})
			folders := []string{s.home, s.project, s.sibling, folder, filepath.Join(s.project, ".git")}
			got := unchanged(t, append(append(paths, folder+"/kept"), folders...)...)
			return attempt{args: append(append(paths, folder), made...), got: both(got, absent(t, "/var/tmp/"+s.word+"*"))}
		}},
		{name: "audit/reaches", claim: claim, audit: true, set: func(t *testing.T, s scene) attempt {
			tcp, udp := listen(t, "tcp", "127.0.0.1:0"), packets(t)
			path := filepath.Join(s.project, "door")
			door := listen(t, "unix", path)
			must(t, os.Chmod(path, 0o777))
			return attempt{args: []string{port(tcp.Addr()), port(udp.LocalAddr()), path}, got: func(result) string {
				var got []string
				if n := visitors(t, tcp); n > 0 {
					got = append(got, fmt.Sprintf("a port of the host's loopback %d times", n))
				}
				if arrives(udp) {
					got = append(got, "a UDP port of the host's loopback")
				}
				if n := visitors(t, door); n > 0 {
					got = append(got, fmt.Sprintf("a unix socket of the host %d times", n))
				}
				return strings.Join(got, ", ")
			}}
		}},
	}
}
