package integration

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestNetworkLeaksNoDescriptor: ten thousand connects of every outcome leave psb with as many descriptors as a few.
func TestNetworkLeaksNoDescriptor(t *testing.T) {
	outside(t, func(t *testing.T, w *world) {
		w.names.set("good.test", fixed("203.0.113.5"))
		w.gate(t, "tcp", "203.0.113.5:8080")
		for _, who := range people() {
			t.Run(who.name, func(t *testing.T) {
				most := "10000"
				if who.uid != 0 && os.Getuid() == 0 {
					most = "2000"
				}
				for _, boxed := range []bool{false, true} {
					if boxed && controlOnly() {
						return
					}
					s := trial{scene: newScene(t, who), boxed: boxed}
					s.takes(t, "loops.py")
					s.net(t, "\"good.test:8080\" = \"connect\"\n\"good.test:81\" = \"connect\"\n")
					cmd := s.command(t.Context(), call{argv: s.words(t, "loops.py", nil, "good.test", "8080", "81", "400", most)})
					in, err := cmd.StdinPipe()
					must(t, err)
					out, err := cmd.StdoutPipe()
					must(t, err)
					var errs strings.Builder
					cmd.Stderr = &errs
					must(t, cmd.Start())
					text := bufio.NewReader(out)
					open := func() int { // it falls to this once what is closing is closed
						list, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", cmd.Process.Pid))
						if err != nil {
							t.Skip("who is no root may not look at psb's descriptors: ", err)
						}
						return len(list)
					}
					var seen []int
					for range 2 {
						for {
							line, err := text.ReadString('\n')
							if err != nil {
								t.Fatalf("it ended: %v %s", err, errs.String())
							}
							if want := map[bool]string{false: "('ECONNREFUSED', ", true: "('EACCES', "}[boxed]; strings.HasPrefix(line, "stage") {
								if !strings.Contains(line, "('fine', ") || !strings.Contains(line, want) {
									t.Errorf("boxed %v: %s", boxed, line)
								}
								break
							}
						}
						if len(seen) == 0 {
							seen = append(seen, open())
						} else {
							until(t, fmt.Sprintf("psb has as many descriptors as before (%d, at first %d)", open(), seen[0]), func() bool { return open() <= seen[0]+8 })
						}
						io.WriteString(in, "\n")
					}
					cmd.Wait()
				}
			})
		}
	})
}

// TestNetworkKilledInConnects: a psb that is killed while its box connects takes the box with it.
func TestNetworkKilledInConnects(t *testing.T) {
	outside(t, func(t *testing.T, w *world) {
		w.names.set("good.test", fixed("203.0.113.5"))
		for _, who := range people() {
			for _, boxed := range []bool{false, true} {
				if boxed && controlOnly() {
					return
				}
				gate := w.gate(t, "tcp", "203.0.113.5:8080")
				s := trial{scene: newScene(t, who), boxed: boxed}
				s.takes(t, "forever.py")
				s.net(t, "\"good.test:8080\" = \"connect\"\n")
				cmd := s.command(t.Context(), call{argv: s.words(t, "forever.py", nil, "good.test", "8080", s.word)})
				must(t, cmd.Start())
				came := func() int { gate.mu.Lock(); defer gate.mu.Unlock(); return len(gate.came) }
				until(t, "a hundred connects", func() bool { return came() > 100 })
				must(t, cmd.Process.Signal(syscall.SIGKILL))
				cmd.Wait()
				if boxed {
					until(t, "the box is gone", func() bool { return len(withWord(t, s.word)) == 0 })
				} else if len(withWord(t, s.word)) == 0 { // its child has a session of its own
					t.Error("control: nothing is left without psb, so it proves nothing")
				}
				for _, p := range withWord(t, s.word) {
					unix.Kill(p.pid, unix.SIGKILL)
				}
				gate.listener.Close()
			}
		}
	})
}
