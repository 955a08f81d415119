package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// learnCall is a learning run in a scene.
func learnCall(t *testing.T, args ...string) call {
	return call{argv: slices.Concat([]string{psb(t), "--python", systemPython, "--learn"}, args)}
}

const (
	twoReads  = `"data/in.csv" = "read"  # two`
	twoCreate = `"./" = "create"  # two`
)

// TestLearningTwoAtOnce: learners of one file each add what they saw, whoever ends first; nobody's rules are lost.
func TestLearningTwoAtOnce(t *testing.T) {
	besideOthers(t)
	t.Run("no policy yet", func(t *testing.T) {
		eachLearner(t, []string{"two"}, func(t *testing.T, s scene) {
			var inner result
			outer := s.watch(t, learnCall(t, "two.py", "a"), func() { inner = s.watch(t, learnCall(t, "two.py", "b"), nil) })
			if inner.code != 0 || outer.code != 0 {
				t.Fatalf("the first to end: %v\nthe other: %v", inner, outer)
			}
			s.holds(t, twoCreate, `"out-a" = "write"  # two`, `"out-b" = "write"  # two`, twoReads)
			if strings.Contains(outer.err, "planted") || !strings.Contains(outer.err, "psb: added 1 rule to .py-sandboxes\n") {
				t.Errorf("the other said\n%s", outer.err)
			}
			for _, arg := range []string{"a", "b"} {
				s.enforced(t, 0, "two.py", arg)
			}
			s.noTrail(t)
		})
	})
	t.Run("a policy that stands", func(t *testing.T) {
		eachLearner(t, []string{"two"}, func(t *testing.T, s scene) {
			s.learns(t, 0, "two.py", "0")
			var inner result
			outer := s.watch(t, learnCall(t, "two.py", "a"), func() { inner = s.watch(t, learnCall(t, "two.py", "b"), nil) })
			if inner.code != 0 || outer.code != 0 {
				t.Fatalf("the first to end: %v\nthe other: %v", inner, outer)
			}
			s.holds(t, twoCreate, `"out-0" = "write"  # two`, `"out-a" = "write"  # two`, `"out-b" = "write"  # two`, twoReads)
			s.enforced(t, 0, "two.py", "a")
		})
	})
	t.Run("many", func(t *testing.T) {
		eachLearner(t, []string{"two"}, func(t *testing.T, s scene) {
			var all sync.WaitGroup
			ends := make([]result, 4)
			for i := range ends {
				all.Go(func() { ends[i] = s.watch(t, learnCall(t, "two.py", fmt.Sprint(i)), nil) })
			}
			all.Wait()
			for _, r := range ends {
				if r.code != 0 {
					t.Errorf("one of four: %v", r)
				}
			}
			s.holds(t, twoCreate, `"out-0" = "write"  # two`, `"out-1" = "write"  # two`, `"out-2" = "write"  # two`, `"out-3" = "write"  # two`, twoReads)
			s.noTrail(t)
		})
	})
	t.Run("edited by hand meanwhile", func(t *testing.T) {
		eachLearner(t, []string{"two"}, func(t *testing.T, s scene) {
			s.learns(t, 0, "two.py", "0")
			policy, _ := s.policy(t)
			outer := s.watch(t, learnCall(t, "two.py", "a"), func() { s.put(t, "home/code/project/.py-sandboxes", policy+"# by hand\n") })
			said, _ := psbLines(outer.err)
			if want := "psb: policy .py-sandboxes: it changed while the program ran; nothing is added"; outer.code != 125 || len(said) == 0 || said[len(said)-1] != want {
				t.Errorf("got %v, want the last line %s", outer, want)
			}
			if now, _ := s.policy(t); now != policy+"# by hand\n" {
				t.Errorf("the policy is\n%s", now)
			}
			s.noTrail(t)
		})
	})
}

// TestLearningCannotWrite: where the policy cannot be written psb says so in one line before the program runs, and leaves everything as it was.
func TestLearningCannotWrite(t *testing.T) {
	besideOthers(t)
	for _, c := range []struct {
		name string
		only string // person
		set  func(t *testing.T, s scene) (args []string)
		says string
	}{
		{"folder without write permission", "user", func(t *testing.T, s scene) []string {
			must(t, os.Chmod(s.project, 0o555))
			t.Cleanup(func() { os.Chmod(s.project, 0o755) })
			return nil
		}, "psb: policy .py-sandboxes: its folder PROJECT cannot be written: permission denied"},
		{"folder of somebody else", "user", func(t *testing.T, s scene) []string {
			if os.Getuid() != 0 {
				ledger.Need(t, "root", os.ErrPermission)
			}
			must(t, os.Chown(s.project, 0, 0))
			return nil
		}, "psb: policy .py-sandboxes: its folder PROJECT cannot be written: permission denied"},
		{"file of somebody else in a shared folder", "user", func(t *testing.T, s scene) []string {
			if os.Getuid() != 0 {
				ledger.Need(t, "root", os.ErrPermission)
			}
			s.put(t, "home/code/project/.py-sandboxes", "version = 1\n")
			must(t, os.Chown(s.project, 0, 0))
			must(t, os.Chmod(s.project, 0o777|os.ModeSticky))
			return []string{"--policy", ".py-sandboxes"}
		}, "psb: policy .py-sandboxes: its folder PROJECT is shared, and the file is somebody else's"},
		{"no such folder", "", func(t *testing.T, s scene) []string { return []string{"--policy", "none/p.toml"} },
			"psb: policy none/p.toml: its folder PROJECT/none cannot be written: no such file or directory"},
		{"symbolic link", "", func(t *testing.T, s scene) []string {
			s.put(t, "home/code/sibling/target", "version = 1\n")
			must(t, os.Symlink("../sibling/target", filepath.Join(s.project, ".py-sandboxes")))
			s.give(t)
			return []string{"--policy", ".py-sandboxes"}
		}, "psb: policy .py-sandboxes: it is no regular file"},
		{"link that leads nowhere", "", func(t *testing.T, s scene) []string {
			must(t, os.Symlink("../sibling/fresh", filepath.Join(s.project, ".py-sandboxes")))
			s.give(t)
			return nil
		}, "psb: policy open .py-sandboxes: no such file or directory"},
		{"pipe", "", func(t *testing.T, s scene) []string {
			must(t, syscall.Mkfifo(filepath.Join(s.project, ".py-sandboxes"), 0o644))
			s.give(t)
			return nil
		}, `psb: policy ".py-sandboxes": a pipe, not a regular file`},
		{"folder", "", func(t *testing.T, s scene) []string {
			must(t, os.Mkdir(filepath.Join(s.project, ".py-sandboxes"), 0o755))
			s.give(t)
			return nil
		}, `psb: policy ".py-sandboxes": a folder, not a regular file`},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachLearner(t, []string{"any_folder"}, func(t *testing.T, s scene) {
				if c.only != "" && s.who.name != c.only {
					t.Skip("root may write there")
				}
				s.put(t, "home/code/project/helper.py", "")
				s.give(t)
				args := c.set(t, s)
				before := listing(t, s.home)
				r := s.run(t, call{argv: slices.Concat([]string{psb(t), "--python", systemPython}, args, []string{"--learn", "any_folder.py"})})
				said, _ := psbLines(r.err)
				if want := strings.ReplaceAll(c.says, "PROJECT", s.project); r.code != 125 || r.out != "" || !slices.Equal(said, []string{want}) {
					t.Errorf("got %v, want 125 and the one line\n%s", r, want)
				}
				if after := listing(t, s.home); after != before {
					t.Errorf("there was\n%sand now there is\n%s", before, after)
				}
			})
		})
	}
}

// TestLearningKeepsTheOwner: a policy that root adds to stays its owner's, with its mode; one of somebody else's in one's own folder becomes
// one's own.
func TestLearningKeepsTheOwner(t *testing.T) {
	besideOthers(t)
	if os.Getuid() != 0 {
		ledger.Need(t, "root", os.ErrPermission)
	}
	eachLearner(t, []string{"two"}, func(t *testing.T, s scene) {
		path := s.put(t, "home/code/project/.py-sandboxes", "version = 1\n")
		other := uint32(ordinaryID + 1)
		must(t, os.Chown(path, int(other), int(other)))
		must(t, os.Chmod(path, 0o664))
		r := s.run(t, call{argv: []string{psb(t), "--python", systemPython, "--policy", ".py-sandboxes", "--learn", "two.py", "a"}})
		info, err := os.Stat(path)
		must(t, err)
		want := s.who.uid
		if want == 0 {
			want = other
		}
		if got := info.Sys().(*syscall.Stat_t); r.code != 0 || got.Uid != want || got.Gid != want || info.Mode() != 0o664 {
			t.Errorf("owner %d:%d mode %v, want %d and 0664: %v", got.Uid, got.Gid, info.Mode(), want, r)
		}
		s.holds(t, twoCreate, `"out-a" = "write"  # two`, twoReads)
	})
}

// listing is what stands below a folder, apart from psb's own: names, kinds, contents of files and links.
func listing(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	must(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if base := filepath.Base(path); base == ".config" || base == ".local" {
			return filepath.SkipDir
		}
		fmt.Fprintf(&out, "%q %v", path, d.Type())
		switch {
		case d.Type().IsRegular():
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&out, " %q", b)
		case d.Type() == os.ModeSymlink:
			to, _ := os.Readlink(path)
			fmt.Fprintf(&out, " -> %q", to)
		}
		out.WriteByte('\n')
		return nil
	}))
	return out.String()
}

// TestLearningPlantedNames: what a program puts where the policy or its temporary name will stand is not followed, and nothing of it is lost.
func TestLearningPlantedNames(t *testing.T) {
	besideOthers(t)
	for what, says := range map[string]string{"nothing": "", "link": "planted: .py-sandboxes: the program put something else than a file there; it is .py-sandboxes.planted now",
		"folder": "planted: .py-sandboxes: the program put something else than a file there; it is .py-sandboxes.planted now",
		"pipe":   "planted: .py-sandboxes: the program put something else than a file there; it is .py-sandboxes.planted now"} {
		t.Run(what, func(t *testing.T) {
			eachLearner(t, []string{"plants"}, func(t *testing.T, s scene) {
				s.put(t, "home/code/project/bait", "bait\n")
				s.give(t)
				r := s.learns(t, 0, "plants.py", what)
				if b, err := os.ReadFile(filepath.Join(s.project, "bait")); err != nil || string(b) != "bait\n" {
					t.Errorf("through a planted link psb wrote %q, %v", b, err)
				}
				if says != "" && !strings.Contains(r.err, "psb: "+says+"\n") {
					t.Errorf("not told %q: %v", says, r)
				}
				info, err := os.Lstat(filepath.Join(s.project, ".py-sandboxes"))
				if err != nil || !info.Mode().IsRegular() {
					t.Fatalf("the policy: %v, %v", info, err)
				}
				if policy, _ := s.policy(t); !slices.Contains(rules(policy), `"data/in.csv" = "read"  # plants`) {
					t.Errorf("the policy is\n%s", policy)
				}
				links, err := filepath.Glob(filepath.Join(s.project, "..py-sandboxes.*"))
				must(t, err)
				if len(links) != 17 {
					t.Errorf("of 17 planted links there are %q", links)
				}
			})
		})
	}
}

// TestLearningFullDisk: on a full file system the old policy stays whole, there is no new one by halves, and one line says why.
func TestLearningFullDisk(t *testing.T) {
	besideOthers(t)
	if os.Getuid() != 0 {
		ledger.Need(t, "root", os.ErrPermission)
	}
	// The file system is a small one of this test's own, in a mount namespace that ends with it.
	const script = `set -e
mount -t tmpfs -o size=256k,mode=755,uid=$1,gid=$1 none "$PWD"
cd "$PWD"
cp -r "$2"/. . && chown -R "$1:$1" .
run() { who=$1; shift; set +e; setpriv --reuid $who --regid $who --clear-groups "$PSB" --python "$PYTHON" --learn "$@" 2>&1; echo "status $?"; set -e; }
[ "$3" = fresh ] || { run $1 fills.py >/dev/null; cp .py-sandboxes "$2/before"; }
echo "=== full"
run $1 fills.py fill
echo "=== there"
ls -A
if [ "$3" != fresh ]; then cmp .py-sandboxes "$2/before" && echo "as before"; fi
rm fill
echo "=== room again"
run $1 fills.py again
echo "=== done"
`
	for _, kind := range []string{"fresh", "stands"} {
		t.Run(kind, func(t *testing.T) {
			eachLearner(t, []string{"fills"}, func(t *testing.T, s scene) {
				kept := filepath.Join(s.dir, "kept")
				copyTree(t, s.project, kept)
				c := call{argv: []string{"unshare", "-m", "sh", "-c", script, "sh", fmt.Sprint(s.who.uid), kept, kind}, env: []string{"PSB=" + psb(t), "PYTHON=" + systemPython}}
				as := s
				as.who = person{"root", 0, 0} // who mounts; the runs are the person's
				r := as.run(t, c)
				_, full, _ := strings.Cut(r.out, "=== full\n")
				full, rest, _ := strings.Cut(full, "=== there\n")
				there, again, _ := strings.Cut(rest, "=== room again\n")
				if r.code != 0 || !strings.Contains(full, "No space left on device\n") {
					t.Fatalf("the file system is not full, so this proves nothing: %v", r)
				}
				said, hints := psbLines(full)
				want := `psb: policy .py-sandboxes: cannot write "` + s.project + `/.py-sandboxes": `
				if !strings.HasSuffix(full, "status 125\n") || len(said) == 0 || !strings.HasPrefix(said[len(said)-1], want) || !strings.HasSuffix(said[len(said)-1], "no space left on device") ||
					!slices.Equal(hints, []string{"psb: hint: psb --learn=FILE …"}) {
					t.Errorf("on the full disk psb said\n%s", full)
				}
				for _, line := range said[:max(len(said)-1, 0)] {
					if !strings.HasPrefix(line, "psb: not written: ") {
						t.Errorf("beside the one line: %s", line)
					}
				}
				names := []string{"data", "fill", "fills.py"}
				if kind != "fresh" {
					names = append([]string{".py-sandboxes"}, names...)
					names = append(names, "as before")
				}
				for _, bait := range baits {
					names = append(names, strings.Split(bait, "/")[0])
				}
				if got := sorted(there); !slices.Equal(got, sorted(lines(names))) {
					t.Errorf("there is now %q, want %q", got, names)
				}
				if !strings.Contains(again, "status 0\n") || !strings.HasSuffix(again, "=== done\n") {
					t.Errorf("with room again: %s", again)
				}
			})
		})
	}
}

// TestRecordFullDisk: a record that finds no room is not there at all, and one line says why; the policy is written none the less.
func TestRecordFullDisk(t *testing.T) {
	besideOthers(t)
	if os.Getuid() != 0 {
		ledger.Need(t, "root", os.ErrPermission)
	}
	const script = `set -e
mkdir small
mount -t tmpfs -o size=8k,mode=755,uid=$1,gid=$1 none small
setpriv --reuid $1 --regid $1 --clear-groups "$PSB" --python "$PYTHON" --learn --record small/run.jsonl two.py a || echo "status $?"
echo "=== there"
ls -A small
`
	eachLearner(t, []string{"two"}, func(t *testing.T, s scene) {
		as := s
		as.who = person{"root", 0, 0} // who mounts; the run is the person's
		r := as.run(t, call{argv: []string{"unshare", "-m", "sh", "-c", script, "sh", fmt.Sprint(s.who.uid)}, env: []string{"PSB=" + psb(t), "PYTHON=" + systemPython}})
		said, _ := psbLines(r.err)
		if r.code != 0 || !strings.HasSuffix(r.out, "status 125\n=== there\n") || !slices.ContainsFunc(said, func(l string) bool {
			return strings.HasPrefix(l, "psb: record small/run.jsonl: ") && strings.HasSuffix(l, "no space left on device")
		}) {
			t.Errorf("%v", r)
		}
		if policy, there := s.policy(t); !there || !strings.Contains(policy, twoReads) {
			t.Errorf("the policy is\n%s", policy)
		}
	})
}
