package integration

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

const (
	bombForks  = 200 // the fuse of the fork bomb
	bombMemory = 512 // of the memory bomb, MiB
)

// plainAttacks hold one claim each, in the plainest way.
func plainAttacks() []attack {
	return []attack{
		{name: "read", claim: "read-ungranted-file", set: func(t *testing.T, s scene) attempt {
			return attempt{args: []string{filepath.Join(s.sibling, s.token+".txt")}, got: func(r result) string {
				if strings.Contains(r.out, "# "+s.token) {
					return "the content of a file"
				}
				return ""
			}}
		}},
		{name: "write", claim: "write-outside", set: func(t *testing.T, s scene) attempt {
			old, fresh, tmp := filepath.Join(s.sibling, s.token+".txt"), filepath.Join(s.sibling, "new.txt"), "/var/tmp/psb-attack-"+s.word
			t.Cleanup(func() { os.Remove(tmp) })
			return attempt{args: []string{old, fresh, tmp}, got: func(result) string {
				if b, err := os.ReadFile(old); err != nil || string(b) != "# "+s.token+"\n" {
					return "a file of another folder: " + string(b)
				}
				for _, path := range []string{fresh, tmp} {
					if _, err := os.Lstat(path); err == nil {
						return "a new file: " + path
					}
				}
				return ""
			}}
		}},
		{name: "list", claim: "list-home", set: func(t *testing.T, s scene) attempt {
			return attempt{args: []string{s.home}, got: func(r result) string {
				if strings.Contains(r.out, "token-"+s.token) {
					return "the names in the home"
				}
				return ""
			}}
		}},
		{name: "connect", claim: "connect-anywhere", set: func(t *testing.T, s scene) attempt {
			path := filepath.Join(s.sibling, "socket")
			doors := []net.Listener{listen(t, "tcp", "127.0.0.1:0"), listen(t, "unix", "@"+s.word), listen(t, "unix", path)}
			must(t, os.Chmod(path, 0o777))
			port := doors[0].Addr().(*net.TCPAddr).Port
			return attempt{args: []string{strconv.Itoa(port), s.word, path}, got: func(result) string {
				var open []string
				for _, d := range doors {
					if n := visitors(t, d); n > 0 {
						open = append(open, fmt.Sprintf("%s %d times", d.Addr(), n))
					}
				}
				return strings.Join(open, ", ")
			}}
		}},
		{name: "processes", claim: "see-host-processes", set: func(t *testing.T, s scene) attempt {
			victim, alive := s.victim(t)
			return attempt{args: []string{strconv.Itoa(victim)}, got: func(r result) string {
				switch {
				case strings.Contains(r.out, s.token):
					return "the arguments of a process of the host"
				case !alive():
					return "the end of a process of the host"
				}
				return ""
			}}
		}},
		{name: "ptrace", claim: "trace-a-process", policy: "[files]\n\"out/\" = \"create\"\n", set: func(t *testing.T, s scene) attempt {
			s.put(t, "home/code/project/out/kept", "")
			s.give(t)
			return attempt{args: []string{"out/traced"}, got: func(result) string {
				if _, err := os.Lstat(filepath.Join(s.project, "out/traced")); err == nil {
					return "the registers of a process"
				}
				return ""
			}}
		}},
		{name: "mount", claim: "mount-something", policy: "[files]\n\"out/\" = \"write\"\n", set: func(t *testing.T, s scene) attempt {
			s.put(t, "home/code/project/out/kept", "")
			s.give(t)
			var seen string
			return attempt{args: []string{"all", s.word, "out"}, control: []string{"apart", s.word, "out"},
				look: func() { seen = mounted(t, s.word) },
				got:  func(result) string { return seen }}
		}},
		{name: "descriptor", claim: "inherited-descriptor", set: func(t *testing.T, s scene) attempt {
			f, err := os.Open(filepath.Join(s.sibling, s.token+".txt"))
			must(t, err)
			t.Cleanup(func() { f.Close() })
			return attempt{extra: []*os.File{f, f, f, f, f, f, f}, got: func(r result) string { // 3 to 9
				if strings.Contains(r.out, "# "+s.token) {
					return "a file through an inherited descriptor"
				}
				return ""
			}}
		}},
		{name: "environment", claim: "unlisted-variable", set: func(t *testing.T, s scene) attempt {
			return attempt{env: []string{"ROW_API_KEY=" + s.token}, got: func(r result) string {
				if strings.Contains(r.out, s.token) {
					return "a variable that no line names"
				}
				return ""
			}}
		}},
		{name: "forks", claim: "fork-bomb", policy: "[limits]\npids = 64\n", gaps: []string{"limits.pids"}, alone: true, set: func(t *testing.T, s scene) attempt {
			var n int
			return attempt{args: []string{strconv.Itoa(bombForks), s.word}, look: func() { n = len(withWord(t, s.word)) }, got: func(result) string {
				if n >= bombForks {
					return fmt.Sprint(n, " processes")
				}
				return ""
			}}
		}},
		{name: "memory", claim: "memory-bomb", policy: "[limits]\nmemory = \"128M\"\nmemory_swap = \"0\"\n", gaps: []string{"limits.memory", "limits.memory_swap"}, alone: true, set: func(t *testing.T, s scene) attempt {
			var mib int
			return attempt{args: []string{strconv.Itoa(bombMemory), s.word}, look: func() {
				mib = s.settled(bombMemory, func() int { return resident(t, s.word) })
			}, got: func(result) string {
				if mib >= bombMemory {
					return fmt.Sprint(mib, " MiB")
				}
				return ""
			}}
		}},
		{name: "daemon", claim: "daemon-outlives-run", set: func(t *testing.T, s scene) attempt {
			return attempt{args: []string{s.word}, got: func(result) string {
				left := withWord(t, s.word)
				for _, p := range left {
					syscall.Kill(p.pid, syscall.SIGKILL)
				}
				if len(left) > 0 {
					return fmt.Sprint("life after the run: ", left)
				}
				return ""
			}}
		}},
		{name: "policy", claim: "rewrite-policy", policy: "[files]\n\"./\" = \"write\"\n", set: func(t *testing.T, s scene) attempt {
			path := filepath.Join(s.project, ".py-sandboxes")
			before, err := os.ReadFile(path)
			must(t, err)
			return attempt{args: []string{path}, got: func(result) string {
				if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
					return fmt.Sprintf("the policy, now %q (%v)", after, err)
				}
				return ""
			}}
		}},
	}
}
