package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func procAttacks() []attack {
	const see, trace, kernel, environment, connect = "see-host-processes", "trace-a-process", "kernel-tunables-and-logs", "unlisted-variable", "connect-anywhere"
	return []attack{
		{name: "proc/environments", claim: environment, set: func(t *testing.T, s scene) attempt {
			return attempt{env: []string{"ROW_API_KEY=" + s.token}, got: spells(s.token, "a variable in a process's environment")}
		}},
		{name: "proc/memory-file", claim: trace, set: func(t *testing.T, s scene) attempt {
			v, _ := s.victim(t)
			return attempt{args: []string{strconv.Itoa(v)}, got: spells(s.token, "the memory of a process")}
		}},
		{name: "proc/memory-call", claim: trace, set: atStack},
		{name: "proc/attach", claim: trace, set: atStack},
		{name: "proc/descriptors-of", claim: see, set: func(t *testing.T, s scene) attempt {
			return attempt{args: []string{s.holder(t), "9"}, got: s.tells("a file that another process holds open")}
		}},
		{name: "proc/take-descriptor", claim: trace, set: func(t *testing.T, s scene) attempt {
			return attempt{args: []string{s.holder(t), "9"}, got: s.tells("a descriptor of another process")}
		}},
		{name: "proc/threads", claim: see, set: func(t *testing.T, s scene) attempt {
			v, alive := s.victim(t)
			return attempt{args: []string{strconv.Itoa(v)}, got: func(result) string {
				if !alive() {
					return "the end of a process of the host"
				}
				return ""
			}}
		}},
		{name: "proc/sockets", claim: connect, set: func(t *testing.T, s scene) attempt {
			listen(t, "unix", "@"+s.token)
			return attempt{got: spells(s.token, "the name of a socket of the host")}
		}},
		{name: "proc/tunables", claim: kernel, only: "root", set: func(t *testing.T, s scene) attempt {
			// The control changes one setting that does nothing on a machine without a disk to spin down.
			laptop := "/proc/sys/vm/laptop_mode"
			words := []string{laptop, "7\n", "/proc/sys/kernel/core_pattern", "|/" + s.word, "/proc/sys/kernel/modprobe", "/" + s.word,
				"/proc/sys/kernel/hotplug", "/" + s.word, "/sys/kernel/uevent_helper", "/" + s.word}
			before := map[string]string{}
			for i := 0; i < len(words); i += 2 {
				if b, err := os.ReadFile(words[i]); err == nil {
					before[words[i]] = string(b)
				}
			}
			put := func() {
				for path, old := range before {
					if b, _ := os.ReadFile(path); string(b) != old {
						os.WriteFile(path, []byte(old), 0)
					}
				}
			}
			t.Cleanup(put)
			return attempt{args: words, control: words[:2], got: func(result) string {
				var changed []string
				for path, old := range before {
					if b, _ := os.ReadFile(path); string(b) != old {
						changed = append(changed, fmt.Sprintf("%s, now %q", path, b))
					}
				}
				put()
				return strings.Join(changed, ", ")
			}}
		}},
		{name: "proc/kernel-log", claim: kernel, only: "root", set: func(t *testing.T, s scene) attempt {
			if err := os.WriteFile("/dev/kmsg", []byte("psb-attack # "+s.token+"\n"), 0); err != nil {
				t.Skip("this run cannot write to the kernel's log: ", err)
			}
			return attempt{got: s.tells("a line of the kernel's log")}
		}},
	}
}

// kernelLog is what the kernel's log holds.
func kernelLog(t *testing.T) string {
	t.Helper()
	b := make([]byte, 1<<20)
	n, err := unix.Klogctl(3, b)
	must(t, err)
	return string(b[:n])
}

// atStack gives the process that has the token in its arguments, and where they lie in its memory.
func atStack(t *testing.T, s scene) attempt {
	t.Helper()
	v, _ := s.victim(t)
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", v))
	must(t, err)
	fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	start, err := strconv.ParseUint(fields[45], 10, 64) // arg_start, field 48
	must(t, err)
	end, err := strconv.ParseUint(fields[46], 10, 64)
	must(t, err)
	return attempt{args: []string{strconv.Itoa(v), fmt.Sprint(start &^ 7), fmt.Sprint(end - start + 8)}, got: spells(s.token, "the memory of a process")}
}

// holder is a process of the same person that has the file outside open at descriptor 9.
func (s scene) holder(t *testing.T) (pid string) {
	t.Helper()
	cmd := s.command(t.Context(), call{argv: []string{"/bin/sh", "-c", `exec 9<"$1"; read line`, s.word, filepath.Join(s.sibling, s.token+".txt")}})
	in, err := cmd.StdinPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() { in.Close(); cmd.Wait() })
	pid = strconv.Itoa(cmd.Process.Pid)
	until(t, "the holder holds", func() bool { _, err := os.Lstat("/proc/" + pid + "/fd/9"); return err == nil })
	return pid
}
