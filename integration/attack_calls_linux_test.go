package integration

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// reaches is what an attack says it reached, "" for nothing. Its word counts where nothing can be seen from outside, because these programs are
// ours and say it only of what they have in hand.
func reaches(r result) string {
	var all []string
	for line := range strings.Lines(r.out) {
		if what, ok := strings.CutPrefix(line, "reached "); ok {
			all = append(all, strings.TrimSpace(what))
		}
	}
	return strings.Join(all, "; ")
}

// asks is what the kernel itself was asked, "" for nothing: every call that the attack made and psb does not report as refused, or that
// had another answer than EPERM. The arguments of these calls are wrong, so that the kernel's own answer does no harm either.
func asks(r result) string {
	var all []string
	for _, m := range regexp.MustCompile(`(?m)^asked (\w+) (\d+)$`).FindAllStringSubmatch(r.out, -1) {
		if m[2] != fmt.Sprint(int(unix.EPERM)) || !regexp.MustCompile(`(?m)^psb: denied: syscall `+m[1]+`( \(\d+ times\))?$`).MatchString(r.err) {
			all = append(all, m[1]+" "+m[2])
		}
	}
	return strings.Join(all, ", ")
}

// says is an attack whose own word is what there is.
func says(word func(result) string, args ...string) func(*testing.T, scene) attempt {
	return func(t *testing.T, _ scene) attempt {
		t.Helper()
		amd64(t)
		return attempt{args: args, got: word}
	}
}

// prints is an attack that must repeat a secret: the content of a file of another folder.
func prints(what string) func(*testing.T, scene) attempt {
	return func(t *testing.T, s scene) attempt {
		t.Helper()
		amd64(t)
		return attempt{args: []string{filepath.Join(s.sibling, s.token+".txt")}, got: func(r result) string {
			if strings.Contains(r.out, "# "+s.token) {
				return what
			}
			return ""
		}}
	}
}

// withFolder is says for an attack that is given a folder which it may write.
func withFolder(word func(result) string) func(*testing.T, scene) attempt {
	return func(t *testing.T, s scene) attempt {
		t.Helper()
		amd64(t)
		s.put(t, "home/code/project/out/kept", "")
		s.give(t)
		return attempt{args: []string{"out"}, got: word}
	}
}

const writesOut = "[files]\n\"out/\" = \"write\"\n"

// amd64: the attacks in Python make kernel calls by number.
func amd64(t *testing.T) {
	t.Helper()
	if runtime.GOARCH != "amd64" {
		t.Skip("the attacks know the kernel calls of amd64 only")
	}
}

// ia32 skips where no program can reach i386's interface, whatever holds it: it tries one that does nothing but end.
func ia32(t *testing.T) {
	t.Helper()
	const base, size = 0x8048000, 52 + 32 + 7
	var b bytes.Buffer
	b.WriteString("\x7fELF\x01\x01\x01" + strings.Repeat("\x00", 9))
	must(t, binary.Write(&b, binary.LittleEndian, struct {
		Type, Machine                            uint16
		Version, Entry, Segments, Sections, Flag uint32
		Sizes                                    [6]uint16
		Segment                                  [8]uint32
	}{2, 3, 1, base + 52 + 32, 52, 0, 0, [6]uint16{52, 32, 1}, [8]uint32{1, 0, base, base, size, size, 5, 4096}}))
	b.WriteString("\x31\xc0\x40\x31\xdb\xcd\x80") // xor eax, eax; inc eax (exit); xor ebx, ebx; int 0x80
	path := filepath.Join(t.TempDir(), "i386")
	must(t, writeProgram(path, b.Bytes()))
	if err := exec.Command(path).Run(); err != nil {
		t.Skip("the kernel runs no program of i386: ", err)
	}
}

// callAttacks are kernel calls that reach past the walls, or at the kernel itself.
func callAttacks() []attack {
	const namespaces, abi, ring, keys, handles = "enter-new-namespaces", "speak-another-interface", "queue-calls-in-a-ring", "kernel-keyrings", "open-by-number"
	const machinery, other, mounts, machine = "kernel-machinery", "trace-a-process", "rebuild-the-file-tree", "stop-or-change-the-machine"
	const typing, root, weaker, filter = "type-into-the-terminal", "become-root", "weaken-memory", "lay-a-filter-over"
	return []attack{
		{name: "calls/unshare", claim: namespaces, set: says(reaches)},
		{name: "calls/unshare_thread", claim: namespaces, set: says(reaches)},
		{name: "calls/unshare_grandchild", claim: namespaces, set: says(reaches)},
		{name: "calls/clone", claim: namespaces, set: says(reaches)},
		{name: "calls/clone_thread", claim: namespaces, set: says(reaches)},
		{name: "calls/clone3", claim: namespaces, set: says(reaches)},
		{name: "calls/setns", claim: namespaces, set: says(reaches)},

		{name: "calls/x32", claim: abi, set: says(reaches)},
		{name: "calls/int80", claim: abi, set: func(t *testing.T, s scene) attempt { ia32(t); return says(reaches)(t, s) }},
		{name: "calls/elf32", claim: abi, policy: "[files]\n\"out/\" = [\"write\", \"exec\"]\n", set: func(t *testing.T, s scene) attempt {
			ia32(t)
			s.put(t, "home/code/project/out/kept", "")
			s.give(t)
			return attempt{args: []string{"out/program"}, got: reaches}
		}},

		{name: "calls/uring", claim: ring, set: prints("a file through a ring")},
		{name: "calls/uring_ways", claim: ring, set: says(reaches)},

		{name: "calls/keys", claim: keys, set: setKeys},
		{name: "calls/keys_leave", claim: keys, set: setKeysLeave},
		{name: "calls/handle", claim: handles, set: func(t *testing.T, s scene) attempt {
			amd64(t)
			return attempt{args: []string{filepath.Join(s.sibling, s.token+".txt")}, got: func(r result) string {
				if strings.Contains(r.out, "# "+s.token) {
					return "a file by its number"
				}
				return reaches(r)
			}}
		}},

		{name: "calls/bpf", claim: machinery, set: says(reaches)},
		{name: "calls/perf", claim: machinery, set: says(reaches)},
		{name: "calls/uffd", claim: machinery, set: says(reaches)},
		{name: "calls/fanotify", claim: machinery, set: says(reaches)},
		{name: "calls/absent", claim: machinery, set: says(reaches)},
		{name: "calls/highbits", claim: machinery, set: says(reaches)},

		{name: "calls/vm_read", claim: other, set: says(reaches)},
		{name: "calls/vm_write", claim: other, set: says(reaches)},
		{name: "calls/pidfd_getfd", claim: other, set: says(reaches)},
		{name: "calls/kcmp", claim: other, set: says(reaches)},
		{name: "calls/seize", claim: other, set: says(reaches)},

		{name: "calls/newmount", claim: mounts, policy: writesOut, set: withFolder(reaches)},
		{name: "calls/open_tree", claim: mounts, policy: writesOut, set: withFolder(reaches)},
		{name: "calls/umount", claim: mounts, set: says(reaches)},
		{name: "calls/pivot", claim: mounts, policy: writesOut, set: withFolder(reaches)},
		{name: "calls/chroot", claim: mounts, policy: writesOut, set: func(t *testing.T, s scene) attempt {
			at := withFolder(reaches)(t, s)
			at.args = append(at.args, filepath.Join(s.sibling, s.token+".txt"))
			return at
		}},

		{name: "calls/reboot", claim: machine, set: says(asks)},
		{name: "calls/kexec", claim: machine, set: says(asks)},
		{name: "calls/modules", claim: machine, set: says(asks)},
		{name: "calls/swap", claim: machine, set: says(asks)},
		{name: "calls/clock", claim: machine, set: says(asks)},
		{name: "calls/hostname", claim: machine, set: says(asks)},
		{name: "calls/ports", claim: machine, set: says(asks)},

		{name: "calls/typing", claim: typing, set: says(reaches, "own", "typed")},

		{name: "calls/identity", claim: root, set: says(reaches)},
		{name: "calls/caps", claim: root, set: says(reaches)},
		{name: "calls/setid", claim: root, policy: "[files]\n\"whoami\" = \"exec\"\n", set: setSetID},
		{name: "calls/openat2", claim: "set-user-id", policy: writesOut, set: func(t *testing.T, s scene) attempt {
			at := withFolder(nil)(t, s)
			at.got = func(result) string {
				var made []string
				for _, f := range regular(t, filepath.Join(s.project, "out")) {
					if info, err := os.Lstat(f); err == nil && info.Mode()&(os.ModeSetuid|os.ModeSetgid) != 0 {
						made = append(made, filepath.Base(f)+" "+info.Mode().String())
					}
				}
				return strings.Join(made, ", ")
			}
			return at
		}},

		{name: "calls/personality", claim: weaker, set: says(reaches)},
		{name: "calls/ownfilter", claim: filter, set: says(reaches)},
	}
}

// setKeys: somebody put a secret into the user's keyring before.
func setKeys(t *testing.T, s scene) attempt {
	t.Helper()
	amd64(t)
	s.keyring(t, s.word, s.token)
	return attempt{args: []string{s.word}, got: func(r result) string {
		if strings.Contains(r.out, s.token) {
			return "a secret in a keyring"
		}
		return ""
	}}
}

func setKeysLeave(t *testing.T, s scene) attempt {
	t.Helper()
	amd64(t)
	return attempt{args: []string{s.word, s.token}, got: func(result) string {
		if strings.Contains(s.keyring(t, s.word).out, s.token) {
			return "a keyring that others use"
		}
		return ""
	}}
}

// keyring runs the attack that reads keys, outside, as the scene's person; with a second word it puts that one there.
func (s scene) keyring(t *testing.T, args ...string) result {
	t.Helper()
	list, err := s.choose(t, "any", nil)
	ledger.Need(t, "python3", err)
	code, err := os.ReadFile("testdata/attack/calls/keys.py")
	must(t, err)
	s.put(t, "home/code/project/keys.py", string(code))
	return s.run(t, call{argv: append([]string{list[0].path, "keys.py"}, args...)})
}

// setSetID: id(1) as a file that acts for another user: root's for an ordinary user, an ordinary user's for root.
func setSetID(t *testing.T, s scene) attempt {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root makes files of another user")
	}
	b, err := os.ReadFile("/usr/bin/id")
	must(t, err)
	path := filepath.Join(s.project, "whoami")
	must(t, writeProgram(path, b))
	owner := 0
	if s.who.uid == 0 {
		owner = ordinaryID
	}
	must(t, os.Chown(path, owner, owner))
	must(t, os.Chmod(path, 0o755|os.ModeSetuid|os.ModeSetgid))
	var fs unix.Statfs_t
	if must(t, unix.Statfs(path, &fs)); fs.Flags&unix.ST_NOSUID != 0 {
		t.Skip("the projects lie on a file system without set-user-ID")
	}
	return attempt{args: []string{"./whoami"}, got: func(r result) string {
		if strings.HasSuffix(r.out, fmt.Sprintf("\n%d\n", owner)) {
			return fmt.Sprint("the id of another user: ", owner)
		}
		return ""
	}}
}

// TestAttackOnTheTerminal: what is typed into the caller's terminal for the shell to read once the program has ended.
func TestAttackOnTheTerminal(t *testing.T) {
	besideOthers(t)
	amd64(t)
	if b, err := os.ReadFile("/proc/sys/dev/tty/legacy_tiocsti"); err == nil && strings.TrimSpace(string(b)) == "0" {
		t.Skip("the kernel takes no typing from anybody (dev.tty.legacy_tiocsti)")
	} else if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	against(t, func(t *testing.T, s trial) string {
		s.program(t, "calls/typing.py")
		s.rules(t, "")
		argv := s.argv(t, []string{"--policy", ".py-sandboxes"}, "calls/typing.py", "here", s.word)
		k := s.console(t, call{argv: append([]string{"/bin/sh", "-c", `"$@"; echo "the shell reads:"; read line; echo "line=<$line>"`, "sh"}, argv...)})
		k.expect("started")
		k.expect("the shell reads:")
		k.send("by the user\n")
		k.expect("line=<")
		k.expect(">")
		if !strings.Contains(k.shown(), "line=<by the user>") {
			return "the shell's input"
		}
		return ""
	})
}
