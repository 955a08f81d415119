package integration

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// knocking waits for the end of its input, then connects to a port of the host.
const knocking = `import socket, sys
print("started", flush=True)
print("ready", flush=True)
sys.stdin.read()
s = socket.socket()
try:
    s.connect(("127.0.0.1", int(sys.argv[1])))
    print("connected")
except OSError as e:
    print("refused", e.errno)
`

// TestStoppedSupervisorOpensNothing: while psb, which judges a call, cannot answer, the call waits; when psb goes on it is refused, and when
// psb is killed the program ends. No failure of the judge opens the door.
func TestStoppedSupervisorOpensNothing(t *testing.T) {
	for _, who := range people() {
		for _, end := range []syscall.Signal{0, syscall.SIGCONT, syscall.SIGKILL} { // 0: the control, without psb
			if end != 0 && controlOnly() {
				continue
			}
			name := map[syscall.Signal]string{0: "control", syscall.SIGCONT: "goes on", syscall.SIGKILL: "is killed"}[end]
			t.Run(who.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				s := trial{scene: newScene(t, who), boxed: end != 0}
				_, err := s.choose(t, "system", nil)
				ledger.Need(t, "python3", err)
				s.files(t, map[string]string{"knock.py": knocking})
				s.rules(t, "")
				door := listen(t, "tcp", "127.0.0.1:0")
				out := s.knock(t, end, fmt.Sprint(door.Addr().(*net.TCPAddr).Port))
				n := visitors(t, door)
				switch {
				case end == 0 && (n != 1 || !strings.Contains(out, "connected")):
					t.Errorf("control: %d came: %s", n, out)
				case end != 0 && n != 0:
					t.Errorf("%d came to the door: %s", n, out)
				case end == syscall.SIGCONT && !strings.Contains(out, "refused"):
					t.Errorf("psb goes on, and the call was not refused: %s", out)
				case end == syscall.SIGKILL && strings.Contains(out, "connected"):
					t.Errorf("psb is dead, and the call went through: %s", out)
				}
				until(t, "nothing of it lives", func() bool { return len(withWord(t, s.word)) == 0 })
			})
		}
	}
}

// knock lets the program make its call while psb is stopped, and then sends psb the signal.
func (s trial) knock(t *testing.T, end syscall.Signal, port string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := s.command(ctx, call{argv: s.argv(t, []string{"--policy", ".py-sandboxes"}, "knock.py", port, s.word)})
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	lines, text := bufio.NewReader(out), bytes.Buffer{}
	for {
		line, err := lines.ReadString('\n')
		text.WriteString(line)
		if err != nil || line == "ready\n" {
			break
		}
	}
	if end != 0 {
		must(t, cmd.Process.Signal(syscall.SIGSTOP))
		until(t, "every thread of psb stands still", func() bool { return standsStill(cmd.Process.Pid) })
	}
	in.Close()
	if end != 0 {
		until(t, "the program waits for the answer", func() bool { return s.waits(t) })
		must(t, cmd.Process.Signal(end))
	}
	io.Copy(&text, lines)
	cmd.Wait()
	if ctx.Err() != nil {
		t.Fatalf("not done after a minute: %s", text.String())
	}
	return text.String()
}

// standsStill: the first thread takes the signal and only then stops the others.
func standsStill(pid int) bool {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	for _, name := range threads {
		b, err := os.ReadFile(name)
		if _, rest, ok := strings.Cut(string(b), ") "); err == nil && (!ok || !strings.HasPrefix(rest, "T")) {
			return false
		}
	}
	return err == nil && len(threads) > 0
}

// waits reports whether the program is inside a call that needs psb's answer.
func (s trial) waits(t *testing.T) bool {
	t.Helper()
	for _, p := range withWord(t, s.word) {
		if b, err := os.ReadFile(fmt.Sprintf("/proc/%d/wchan", p.pid)); err == nil && strings.Contains(string(b), "seccomp") {
			return true
		}
		if b, err := os.ReadFile(fmt.Sprintf("/proc/%d/syscall", p.pid)); err == nil && strings.HasPrefix(string(b), fmt.Sprint(syscall.SYS_CONNECT, " ")) {
			return true
		}
	}
	return false
}
