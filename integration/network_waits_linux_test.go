package integration

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// silentPlace is an address where nothing ever answers: its queue is full.
func silentPlace(t *testing.T, host [4]byte, port int) {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	must(t, err)
	t.Cleanup(func() { unix.Close(fd) })
	must(t, unix.Bind(fd, &unix.SockaddrInet4{Addr: host, Port: port}))
	must(t, unix.Listen(fd, 0))
	place := fmt.Sprintf("%d.%d.%d.%d:%d", host[0], host[1], host[2], host[3], port)
	c, err := net.Dial("tcp", place) // a backlog of 0 holds one
	must(t, err)
	t.Cleanup(func() { c.Close() })
	if c, err := net.DialTimeout("tcp", place, 300*time.Millisecond); err == nil {
		c.Close()
		t.Fatal("the queue is not full with one")
	}
}

// TestNetworkWaits: a connect that waits holds up nobody but its thread, and is interrupted by a timer, a time limit and a key.
func TestNetworkWaits(t *testing.T) {
	outside(t, func(t *testing.T, w *world) {
		w.names.set("silent.test", fixed("203.0.113.5"))
		silentPlace(t, [4]byte{203, 0, 113, 5}, 8080)
		want := "started\ninterrupted\ntimed out\nEINPROGRESS\nEINPROGRESS [] EALREADY\nthe others go on 127.0.0.1\nready\ninterrupted by key\n"
		for _, who := range people() {
			for _, boxed := range []bool{false, true} {
				if boxed && controlOnly() {
					return
				}
				s := trial{scene: newScene(t, who), boxed: boxed}
				s.takes(t, "waits.py")
				s.net(t, "\"silent.test:8080\" = \"connect\"\n")
				cmd := s.command(t.Context(), call{argv: s.words(t, "waits.py", nil, "silent.test", "8080", s.word)})
				r, w, err := os.Pipe()
				must(t, err)
				var errs strings.Builder
				cmd.Stdout, cmd.Stderr = w, &errs
				must(t, cmd.Start())
				w.Close()
				var out strings.Builder
				text := bufio.NewReader(r)
				for {
					line, err := text.ReadString('\n')
					out.WriteString(line)
					if line == "ready\n" {
						s.inConnect(t)
						cmd.Process.Signal(syscall.SIGINT)
					}
					if err != nil {
						break
					}
				}
				r.Close()
				cmd.Wait()
				if got := ended(cmd.ProcessState, out.String(), errs.String()); got.out != want || got.code != 0 {
					t.Errorf("%s, boxed %v: %v\nwant\n%s", who.name, boxed, got, want)
				}
			}
		}
	})
}

// inConnect waits until the program's first thread is inside connect.
func (s trial) inConnect(t *testing.T) {
	t.Helper()
	until(t, "the program is inside connect", func() bool {
		for _, p := range withWord(t, s.word) {
			b, err := os.ReadFile(fmt.Sprintf("/proc/%d/syscall", p.pid))
			if err == nil && strings.HasPrefix(string(b), fmt.Sprint(unix.SYS_CONNECT, " ")) {
				return true
			}
		}
		return false
	})
}

// TestNetworkSocketOptions: what a program set on a socket before it connects holds afterwards, also in a child.
func TestNetworkSocketOptions(t *testing.T) {
	outside(t, func(t *testing.T, w *world) {
		w.names.set("good.test", fixed("203.0.113.5"))
		w.gate(t, "tcp", "203.0.113.5:8080")
		for _, who := range people() {
			var control result
			for _, boxed := range []bool{false, true} {
				if boxed && controlOnly() {
					return
				}
				s := trial{scene: newScene(t, who), boxed: boxed}
				s.takes(t, "options.py")
				s.net(t, "\"good.test:8080\" = \"connect\"\n")
				r := s.run(t, call{argv: s.words(t, "options.py", nil, "good.test", "8080")})
				if r.code != 0 || boxed && r.out != control.out {
					t.Errorf("%s, boxed %v: %v\ncontrol: %v", who.name, boxed, r, control)
				}
				control = r
			}
		}
	})
}

// TestNetworkKeepsToItsBox: two boxes at once with other rules share nothing: neither the names inside nor the ports of their own.
func TestNetworkKeepsToItsBox(t *testing.T) {
	if controlOnly() {
		t.Skip("needs psb")
	}
	outside(t, func(t *testing.T, w *world) {
		w.names.set("a.test", fixed("203.0.113.5"))
		w.names.set("b.test", fixed("203.0.113.6"))
		w.gate(t, "tcp", "203.0.113.5:8080")
		w.gate(t, "tcp", "203.0.113.6:8080")
		for _, who := range people() {
			results := make(chan string)
			for _, rule := range []string{"a.test", "b.test"} {
				s := trial{scene: newScene(t, who), boxed: true}
				s.takes(t, "wanders.py")
				s.net(t, "\""+rule+":8080\" = \"connect\"\n")
				cmd := s.command(t.Context(), call{argv: s.words(t, "wanders.py", nil, "a.test:8080", "b.test:8080")})
				go func() {
					out, _ := cmd.Output()
					results <- string(out)
				}()
			}
			got := map[string]bool{<-results: true, <-results: true}
			if !got["a.test:8080 connected\nb.test:8080 no such name\n"] || !got["a.test:8080 no such name\nb.test:8080 connected\n"] {
				t.Errorf("%s: %v", who.name, got)
			}
		}
	})
}
