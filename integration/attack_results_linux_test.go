package integration

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// What psb writes or reads after the program has ended, and before the next one starts, lies in folders that the program could write.

func resultAttacks() []attack {
	const claim = "results-led-astray"
	reported := func(t *testing.T, s scene, other string) attempt {
		t.Helper()
		s.folders(t, "out")
		report := filepath.Join(s.project, "out/report.json")
		return attempt{args: []string{"out/report.json", other}, options: []string{"--report", "out/report.json"}, got: unchanged(t, other), collect: func(boxed bool) {
			if !boxed {
				must(t, os.WriteFile(report, []byte("{}\n"), 0o644))
			}
		}}
	}
	return []attack{
		{name: "results/report-link", claim: claim, policy: mayWriteOut, set: func(t *testing.T, s scene) attempt { return reported(t, s, s.outside()) }},
		{name: "results/report-hard-link", claim: claim, policy: mayWriteOut, set: func(t *testing.T, s scene) attempt {
			s.folders(t, "out")
			// The file may be written, so its content is the program's affair; that the report goes elsewhere is not.
			at := reported(t, s, filepath.Join(s.project, "out/kept"))
			at.got = func(result) string {
				if b, err := os.ReadFile(filepath.Join(s.project, "out/kept")); err != nil || string(b) != "kept\n" {
					return "the report went into another file"
				}
				return ""
			}
			return at
		}},
		{name: "results/report-pipe", claim: claim, policy: mayWriteOut, set: func(t *testing.T, s scene) attempt {
			s.folders(t, "out")
			report := filepath.Join(s.project, "out/report.json")
			var hung bool
			return attempt{args: []string{"out/report.json"}, options: []string{"--report", "out/report.json"}, collect: func(boxed bool) {
				if info, err := os.Lstat(report); !boxed && err == nil && info.Mode()&os.ModeNamedPipe != 0 {
					hung = true // a plain open for writing would wait for ever
				}
			}, got: func(r result) string {
				if hung || r.signal != 0 {
					return "a writer that waits for a reader"
				}
				return ""
			}}
		}},
		{name: "results/policy-link", claim: claim, policy: mayWriteAll, set: func(t *testing.T, s scene) attempt {
			path := filepath.Join(s.project, ".py-sandboxes")
			return attempt{args: []string{".py-sandboxes", s.outside()}, options: []string{"--learn"}, got: unchanged(t, s.outside()), collect: func(boxed bool) {
				if !boxed {
					must(t, os.WriteFile(path, []byte("version = 1\n"), 0o644))
				}
			}}
		}},
		{name: "results/pipes", claim: claim, policy: mayWriteAll, set: func(t *testing.T, s scene) attempt {
			var hung string
			return attempt{got: func(result) string { return hung }, collect: func(boxed bool) {
				if boxed {
					// The run after it must start, whatever it looks at.
					s.put(t, "home/code/project/next.py", "print('next')\n")
					r := s.run(t, call{argv: []string{psb(t), "--policy", ".py-sandboxes", "--python", systemPython, "next.py"}, timeout: 50 * time.Second})
					if r.signal != 0 || !strings.Contains(r.out+r.err, "next") && r.code != 125 {
						hung = "the next run: " + r.String()
					}
					return
				}
				fd, err := syscall.Open(filepath.Join(s.project, "sub/.git/config"), syscall.O_RDONLY|syscall.O_NONBLOCK, 0)
				if err != nil {
					return
				}
				defer syscall.Close(fd)
				var st syscall.Stat_t
				if must(t, syscall.Fstat(fd, &st)); st.Mode&syscall.S_IFMT == syscall.S_IFIFO {
					hung = "a reader that waits for a writer"
				}
			}}
		}},
	}
}
