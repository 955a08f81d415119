package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const (
	fullMemory = 384  // MiB, the fuse of what fills memory
	fullDisk   = 64   // MiB, of what fills a file system
	fullOutput = 2048 // KiB, of what prints
	mostFiles  = 600  // of what opens descriptors
)

// threadsOf counts the threads of the processes with the word.
func threadsOf(t *testing.T, word string) (n int) {
	t.Helper()
	for _, p := range withWord(t, word) {
		names, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", p.pid))
		must(t, err)
		n += len(names)
	}
	return n
}

// stored is what the open files of the processes with the word take, in MiB.
func stored(t *testing.T, word string) (mib int) {
	t.Helper()
	for _, p := range withWord(t, word) {
		names, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", p.pid))
		must(t, err)
		for _, name := range names {
			target := pointsTo(name)
			if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() && (strings.Contains(target, "full") || strings.Contains(target, "psb-attack-")) {
				if st, ok := info.Sys().(*syscall.Stat_t); ok {
					mib += int(st.Blocks) * 512 >> 20
				}
			}
		}
	}
	return mib
}

func pointsTo(name string) string {
	text, _ := os.Readlink(name)
	return text
}

// filling is an attack that fills a place with so many MiB. Without psb it fills a folder of the project instead of the host's.
func filling(place string, mib, most int) func(*testing.T, scene) attempt {
	return func(t *testing.T, s scene) attempt {
		t.Helper()
		s.put(t, "home/code/project/out/kept", "")
		s.give(t)
		var n int
		return attempt{args: []string{place, strconv.Itoa(mib), s.word}, control: []string{"out", strconv.Itoa(mib), s.word},
			look: func() { n = stored(t, s.word) },
			got: func(result) string {
				if n > most {
					return fmt.Sprint(n, " MiB of it")
				}
				return ""
			}}
	}
}

// settled looks until less than the fuse is left, or for twenty seconds: where nothing but psb's own look holds a limit, the end comes a moment
// later. Without psb one look is enough.
func (s scene) settled(fuse int, look func() int) (n int) {
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if n = look(); n < fuse || s.bare || time.Now().After(deadline) {
			return n
		}
	}
}

// resourceAttacks take more than they were given.
func resourceAttacks() []attack {
	const bomb, memory, disk, descriptors, forever, output = "thread-bomb", "memory-by-another-name", "disk-fill", "use-up-descriptors", "compute-for-ever", "output-flood"
	const orphans, supervisor = "leave-orphans", "flood-the-supervisor"
	held := []string{"limits.memory", "limits.memory_swap"}
	return []attack{
		{name: "resources/threads", claim: bomb, policy: "[limits]\npids = 64\n", gaps: []string{"limits.pids"}, alone: true, set: func(t *testing.T, s scene) attempt {
			var n int
			return attempt{args: []string{strconv.Itoa(bombForks), s.word}, look: func() { n = threadsOf(t, s.word) }, got: func(result) string {
				if n >= bombForks {
					return fmt.Sprint(n, " threads")
				}
				return ""
			}}
		}},

		{name: "resources/memfd", claim: memory, policy: "[limits]\nmemory = \"128M\"\nmemory_swap = \"0\"\n", gaps: held, alone: true, set: func(t *testing.T, s scene) attempt {
			var n int
			at := filling("", fullMemory, 0)(t, s)
			at.look = func() { n = s.settled(fullMemory, func() int { return stored(t, s.word) }) }
			at.got = func(result) string {
				if n >= fullMemory {
					return fmt.Sprint(n, " MiB")
				}
				return ""
			}
			return at
		}},
		{name: "resources/shared", claim: memory, policy: "[limits]\nmemory = \"128M\"\nmemory_swap = \"0\"\n", gaps: held, alone: true, set: func(t *testing.T, s scene) attempt {
			var n int
			return attempt{args: []string{strconv.Itoa(fullMemory), s.word}, look: func() { n = s.settled(fullMemory, func() int { return resident(t, s.word) }) },
				got: func(result) string {
					if n >= fullMemory {
						return fmt.Sprint(n, " MiB")
					}
					return ""
				}}
		}},

		{name: "resources/disk_tmp", claim: disk, policy: "[limits]\ndisk = \"16M\"\n", set: filling("/tmp", fullDisk, 16)},
		{name: "resources/disk_shm", claim: disk, policy: "[limits]\ndisk = \"16M\"\n", set: filling("/dev/shm", fullDisk, 16)},
		{name: "resources/file_size", claim: disk, policy: "[limits]\nfile_size = \"8M\"\n[files]\n\"out/\" = \"write\"\n", set: func(t *testing.T, s scene) attempt {
			at := filling("out", fullDisk, 8)(t, s)
			at.got = func(result) string { return larger(t, filepath.Join(s.project, "out"), 8<<20) }
			return at
		}},
		{name: "resources/sparse", claim: disk, policy: "[limits]\nfile_size = \"8M\"\n[files]\n\"out/\" = \"write\"\n", set: func(t *testing.T, s scene) attempt {
			at := withFolder(nil)(t, s)
			at.got = func(result) string { return larger(t, filepath.Join(s.project, "out"), 8<<20) }
			return at
		}},
		{name: "resources/inodes", claim: disk, policy: "[limits]\ndisk = \"16M\"\n", set: func(t *testing.T, s scene) attempt {
			at := withFolder(reaches)(t, s)
			at.args, at.control = []string{"/tmp", "20000"}, []string{"out", "20000"}
			return at
		}},

		{name: "resources/files", claim: descriptors, policy: "[limits]\nopen_files = 256\n", set: says(func(r result) string { return strings.Trim(reaches(r)+"; "+asks(r), "; ") }, strconv.Itoa(mostFiles))},

		{name: "resources/cpu", claim: forever, policy: "[limits]\ncpu_time = \"1s\"\n", set: says(reaches, "3")},
		{name: "resources/wall", claim: forever, policy: "[limits]\nwall = \"5s\"\n", set: says(reaches, "10")},

		{name: "resources/output", claim: output, policy: "[limits]\noutput = \"64K\"\n", set: func(*testing.T, scene) attempt {
			return attempt{args: []string{strconv.Itoa(fullOutput)}, got: func(r result) string {
				if n := strings.Count(r.out, "x") + strings.Count(r.err, "x"); n > 65<<10 {
					return fmt.Sprint(n, " bytes of output")
				}
				return ""
			}}
		}},

		{name: "resources/orphans", claim: orphans, set: func(t *testing.T, s scene) attempt {
			return attempt{args: []string{s.word}, got: func(result) string {
				left := withWord(t, s.word)
				for _, p := range left {
					syscall.Kill(p.pid, syscall.SIGKILL)
				}
				if len(left) > 0 {
					return fmt.Sprint("life after the run: ", len(left), " processes")
				}
				return ""
			}}
		}},

		{name: "resources/flood", claim: supervisor, set: says(func(r result) string {
			if !strings.Contains(r.err, "psb: denied: syscall keyctl (4000 times)\n") {
				return strings.Trim(reaches(r)+"; a call that nobody counted", "; ")
			}
			return reaches(r)
		})},
		{name: "resources/forgotten", claim: supervisor, set: func(t *testing.T, s scene) attempt {
			amd64(t)
			path := filepath.Join(s.home, "report.json")
			return attempt{options: []string{"--report", path}, got: func(r result) string {
				if b, err := os.ReadFile(path); err != nil || !strings.Contains(string(b), `"keyctl"`) || !strings.Contains(r.out, "\nasked keyctl 1\n") {
					return "a call that nobody reports: " + asks(r)
				}
				return ""
			}}
		}},
	}
}

// larger names the files below a folder that are larger than that.
func larger(t *testing.T, dir string, size int64) string {
	t.Helper()
	var all []string
	for _, f := range regular(t, dir) {
		if info, err := os.Lstat(f); err == nil && info.Size() > size {
			all = append(all, fmt.Sprintf("%s of %d bytes", filepath.Base(f), info.Size()))
		}
	}
	return strings.Join(all, ", ")
}

// signalling sends signals without end to its process group, its parent and itself, and ends with a status of its own.
const signalling = `import os
import signal
import sys

print("started", flush=True)
for s in (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1):
    signal.signal(s, signal.SIG_IGN)
parent, refused = os.getppid(), 0  # asked once: whoever takes the place of an ended parent is spared
for _ in range(2000):
    for act in (lambda s: os.kill(0, s), lambda s: os.kill(parent, s), lambda s: os.killpg(os.getpgrp() or os.getpid(), s)):
        for s in (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1):
            try:
                act(s)
            except OSError:
                refused += 1
print("refused", refused, flush=True)
sys.exit(7)
`

// TestAttackBySignals: a program that sends signals to everything it can name ends neither psb nor the shell that waits for it, and its own
// status arrives.
func TestAttackBySignals(t *testing.T) {
	besideOthers(t)
	against(t, func(t *testing.T, s trial) string {
		s.files(t, map[string]string{"signals.py": signalling})
		s.rules(t, "")
		argv := s.argv(t, []string{"--policy", ".py-sandboxes"}, "signals.py")
		r := s.started(t, s.run(t, call{argv: append([]string{"/bin/sh", "-c", `"$@"; exit $(($? + 20))`, "sh"}, argv...)}))
		if r.status() != "27" {
			return "what waited for it, which ended with status " + r.status()
		}
		return ""
	})
}

// asking makes a refused call once it is told to, and leaves a file that says how the call came back.
const asking = `import ctypes, sys
print("started", flush=True)
sys.stdin.read(1)
libc = ctypes.CDLL(None, use_errno=True)
answer = libc.syscall(250, 0, -4, 0), ctypes.get_errno()
open("out/answered", "w").write("%d %d" % answer)
sys.stdin.read()
`

// TestAttackWhilePsbIsStopped: a call that psb judges waits while psb is stopped, and fails when psb is killed, just before the
// program ends with it: nobody else answers.
func TestAttackWhilePsbIsStopped(t *testing.T) {
	if controlOnly() {
		t.Skip("needs psb")
	}
	amd64(t)
	for _, who := range people() {
		t.Run(who.name, func(t *testing.T) {
			t.Parallel()
			s := trial{scene: newScene(t, who), boxed: true}
			_, err := s.choose(t, "system", nil)
			ledger.Need(t, "python3", err)
			s.files(t, map[string]string{"asking.py": asking, "out/kept": ""})
			s.rules(t, "\"out/\" = \"write\"\n")
			cmd := s.command(t.Context(), call{argv: s.argv(t, []string{"--policy", ".py-sandboxes"}, "asking.py", s.word)})
			in, err := cmd.StdinPipe()
			must(t, err)
			out, err := cmd.StdoutPipe()
			must(t, err)
			must(t, cmd.Start())
			ended := false
			defer func() {
				if !ended {
					cmd.Process.Kill()
					cmd.Wait()
				}
			}()
			_, err = out.Read(make([]byte, 64)) // it has started
			must(t, err)
			must(t, cmd.Process.Signal(unix.SIGSTOP))
			until(t, "psb is stopped", func() bool { return stateOf(t, cmd.Process.Pid) == 'T' })
			_, err = in.Write([]byte("x"))
			must(t, err)
			until(t, "the call waits for an answer", func() bool {
				for _, p := range withWord(t, s.word) {
					if b, err := os.ReadFile(fmt.Sprintf("/proc/%d/syscall", p.pid)); err == nil && strings.HasPrefix(string(b), "250 ") {
						return true
					}
				}
				return false
			})
			answered := filepath.Join(s.project, "out/answered")
			if _, err := os.Lstat(answered); err == nil {
				t.Error("the call came back although psb was stopped")
			}
			must(t, cmd.Process.Kill())
			cmd.Wait()
			ended = true
			until(t, "nothing is left of the run", func() bool { return len(withWord(t, s.word)) == 0 })
			if b, err := os.ReadFile(answered); err == nil && len(b) > 0 && string(b) != "-1 38" { // ENOSYS: there is nobody to ask
				t.Errorf("the call came back with %q after psb was killed", b)
			}
		})
	}
}
