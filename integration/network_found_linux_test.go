package integration

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// What somebody found who attacked the broker. Each is tried again here.

// stays runs a program that does not end by itself: it is told to (SIGTERM) when it has said "ready", or psb ends it, by a limit among the
// options. Whoever is still there after a minute is killed, and the test fails.
func (s trial) stays(t *testing.T, program string, options []string, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := s.command(ctx, call{argv: s.words(t, program, options, args...)})
	r, w, err := os.Pipe()
	must(t, err)
	defer r.Close()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = w, &errs
	err = cmd.Start()
	w.Close()
	must(t, err)
	text := bufio.NewReader(r)
	for {
		line, err := text.ReadString('\n')
		out.WriteString(line)
		if line == "ready\n" && len(options) == 0 {
			cmd.Process.Signal(syscall.SIGTERM)
		}
		if err != nil {
			break
		}
	}
	cmd.Wait()
	if ctx.Err() != nil {
		t.Errorf("%q does not end: %v", cmd.Args, ended(cmd.ProcessState, out.String(), errs.String()))
	}
	return s.started(t, ended(cmd.ProcessState, out.String(), errs.String()))
}

// holdsNobodyUp runs a program that tries to make psb wait for it, as each person, all at once: with psb it prints what it prints without,
// so that its other calls are answered, and its end, by SIGTERM or by a limit (none for ""), is psb's. rules are of [net]; args are asked for
// once for each run.
func holdsNobodyUp(t *testing.T, program, rules, limit string, args func(t *testing.T, s trial) (args []string, rule string)) {
	t.Helper()
	for _, who := range people() {
		run := func(boxed bool) func(t *testing.T, options ...string) result { // all is written before anything runs: a program that is open for writing cannot be
			s := trial{scene: newScene(t, who), boxed: boxed}
			s.takes(t, program)
			words, rule := args(t, s)
			s.net(t, rules+rule)
			return func(t *testing.T, options ...string) result { return s.stays(t, program, options, words...) }
		}
		plainly, told, limited := run(false), run(true), run(true)
		t.Run(who.name, func(t *testing.T) {
			t.Parallel()
			control := plainly(t)
			if !strings.HasSuffix(control.out, "ready\n") {
				t.Fatalf("control: %v", control)
			}
			if controlOnly() {
				return
			}
			if r := told(t); r.out != control.out || r.status() != control.status() {
				t.Errorf("%v\ncontrol: %v", r, control)
			}
			if limit == "" {
				return
			}
			if r := limited(t, "--limit", limit); r.out != control.out || r.status() != "124" {
				t.Errorf("with a limit: %v\ncontrol: %v", r, control)
			}
		})
	}
}

// TestNetworkAttackConnectsAgain: a connect that is asked again, on a socket that is still connecting and waits by now, holds up no other call
// of the box, and not its end.
func TestNetworkAttackConnectsAgain(t *testing.T) {
	outside(t, func(t *testing.T, w *world) {
		silentPlace(t, [4]byte{203, 0, 113, 5}, 8080)
		w.gate(t, "tcp", "203.0.113.6:8080")
		holdsNobodyUp(t, "again.py", "\"203.0.113.5:8080\" = \"connect\"\n\"203.0.113.6:8080\" = \"connect\"\n", "wall=2s", func(*testing.T, trial) ([]string, string) {
			return []string{"203.0.113.5:8080", "203.0.113.6:8080"}, ""
		})
	})
}

// TestNetworkAttackSetToWait: nor does a socket that another thread sets to wait while psb connects it to a server whose queue is full.
func TestNetworkAttackSetToWait(t *testing.T) {
	outside(t, func(t *testing.T, w *world) {
		w.gate(t, "tcp", "203.0.113.6:8080")
		holdsNobodyUp(t, "waiting.c", "\"203.0.113.6:8080\" = \"connect\"\n", "", func(*testing.T, trial) ([]string, string) {
			return []string{"own", "203.0.113.6", "8080"}, ""
		})
	})
}

// TestNetworkAttackSetToWaitAtASocket: nor one that goes to a socket of the host that a rule names.
func TestNetworkAttackSetToWaitAtASocket(t *testing.T) {
	outside(t, func(t *testing.T, w *world) {
		w.gate(t, "tcp", "203.0.113.6:8080")
		holdsNobodyUp(t, "waiting.c", "\"203.0.113.6:8080\" = \"connect\"\n", "", func(t *testing.T, s trial) ([]string, string) {
			path := filepath.Join(s.dir, "full")
			fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
			must(t, err)
			t.Cleanup(func() { unix.Close(fd) })
			must(t, unix.Bind(fd, &unix.SockaddrUnix{Name: path}))
			must(t, os.Chmod(path, 0o777))
			must(t, unix.Listen(fd, 0))
			return []string{path, "203.0.113.6", "8080"}, fmt.Sprintf("%q = \"connect\"\n", "unix:"+path)
		})
	})
}

// TestNetworkAttackLingers: nor one that lingers with bytes nobody reads, when psb is the last to hold it.
func TestNetworkAttackLingers(t *testing.T) {
	outside(t, func(t *testing.T, w *world) {
		w.gate(t, "tcp", "203.0.113.6:8080")
		small := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) (err error) {
			raw.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF, 4096) })
			return err
		}}
		deaf, err := small.Listen(t.Context(), "tcp", "203.0.113.5:8080")
		must(t, err)
		t.Cleanup(func() { deaf.Close() })
		go func() {
			for {
				c, err := deaf.Accept()
				if err != nil {
					return
				}
				t.Cleanup(func() { c.Close() })
			}
		}()
		holdsNobodyUp(t, "lingers.c", "\"203.0.113.5:8080\" = \"connect\"\n\"203.0.113.6:8080\" = \"connect\"\n", "wall=3s", func(*testing.T, trial) ([]string, string) {
			return []string{"203.0.113.5", "8080", "203.0.113.6", "8080"}, ""
		})
	})
}

// TestNetworkAttackChosenPort: a rule on any free port of the host opens none that the program chose.
func TestNetworkAttackChosenPort(t *testing.T) {
	outside(t, func(t *testing.T, w *world) {
		raid(t, []string{"chosen.py"}, func(t *testing.T, s trial, program string) (reached string) {
			s.net(t, "\"127.0.0.1:0\" = \"listen\"\n")
			possible := servesAgain(t, true)
			ports := []string{"8080"}
			if s.who.uid == 0 {
				ports = append(ports, "631")
			}
			r := s.started(t, s.watch(t, call{argv: s.words(t, program, nil, ports...)}, func() {
				open := listeners(t)
				for _, port := range ports {
					if slices.Contains(open, "127.0.0.1:"+port) {
						reached += "a server at " + port + "; "
					} else if !s.boxed && possible {
						t.Errorf("control: nobody listens at %s", port)
					}
				}
			}))
			if !strings.Contains(r.out, "ready\n") {
				t.Errorf("it did not get that far: %v", r)
			}
			if !s.boxed && !possible {
				return "what this kernel gives nobody"
			}
			return reached
		})
	})
}

// wordsFrom are what so many visitors of a place are told, each word once. They leave first, so that the place is free when its server ends.
func wordsFrom(t *testing.T, place string, visits int) (told []string) {
	t.Helper()
	for range visits {
		c, err := net.DialTimeout("tcp", place, 30*time.Second)
		if err != nil {
			told = append(told, err.Error())
			continue
		}
		c.SetDeadline(time.Now().Add(30 * time.Second))
		word, err := bufio.NewReader(c).ReadString('\n')
		if err != nil {
			word += err.Error()
		}
		c.Close()
		told = append(told, strings.TrimSpace(word))
	}
	slices.Sort(told)
	return slices.Compact(told)
}

// TestNetworkAttackSharedPort: a server of the box takes no visitor of one that the same person has on the host, though both would share
// their port.
func TestNetworkAttackSharedPort(t *testing.T) {
	outside(t, func(t *testing.T, w *world) {
		raid(t, []string{"shares.py"}, func(t *testing.T, s trial, program string) (reached string) {
			s.net(t, "\"127.0.0.1:5020\" = \"listen\"\n")
			host := trial{scene: s.scene}
			host.watch(t, call{argv: host.words(t, program, nil, "127.0.0.1", "5020", "host")}, func() {
				r := s.started(t, s.watch(t, call{argv: s.words(t, program, nil, "127.0.0.1", "5020", "thief")}, func() {
					if told := wordsFrom(t, "127.0.0.1:5020", 40); !slices.Equal(told, []string{"host"}) {
						reached = fmt.Sprintf("visitors: %q", told)
					}
				}))
				if s.boxed && r.out != "started\nthief EADDRINUSE\nready\n" {
					t.Errorf("%v", r)
				}
			})
			return reached
		})
	})
}

// TestNetworkSharedPort: two servers of one box share a port as they do without psb.
func TestNetworkSharedPort(t *testing.T) {
	outside(t, func(t *testing.T, w *world) {
		for _, who := range people() {
			for _, boxed := range []bool{false, true} {
				if boxed && controlOnly() {
					return
				}
				s := trial{scene: newScene(t, who), boxed: boxed}
				s.takes(t, "shares.py")
				s.net(t, "\"127.0.0.1:5021\" = \"listen\"\n")
				var told []string
				r := s.watch(t, call{argv: s.words(t, "shares.py", nil, "127.0.0.1", "5021", "one", "two")}, func() { told = wordsFrom(t, "127.0.0.1:5021", 60) })
				if r.out != "started\none listens\ntwo listens\nready\n" || !slices.Equal(told, []string{"one", "two"}) {
					t.Errorf("%s, boxed %v: visitors were told %q: %v", who.name, boxed, told, r)
				}
			}
		}
	})
}

// TestNetworkServerGone: a server that two lines put at two places of the host, and that closes, leads nobody from one place to whoever takes
// the other.
func TestNetworkServerGone(t *testing.T) {
	outside(t, func(t *testing.T, w *world) {
		for _, who := range people() {
			for _, boxed := range []bool{false, true} {
				if boxed && controlOnly() {
					return
				}
				s := trial{scene: newScene(t, who), boxed: boxed}
				s.takes(t, "closes.py")
				s.net(t, "\"127.0.0.1:5000\" = \"listen\"\n\"203.0.113.9:5000\" = \"listen\"\n")
				seen := false
				r := s.watch(t, call{argv: s.words(t, "closes.py", nil, "5000")}, func() {
					seen = true
					if told := wordsFrom(t, "203.0.113.9:5000", 1); told[0] != "box" {
						t.Errorf("the server of the box says %q", told)
					}
					until(t, "127.0.0.1:5000 is free", func() bool {
						l, err := net.Listen("tcp", "127.0.0.1:5000")
						if err == nil {
							l.Close()
						}
						return err == nil
					})
					other := w.gate(t, "tcp", "127.0.0.1:5000")
					defer other.listener.Close()
					until(t, "the other place refuses", func() bool {
						c, err := net.DialTimeout("tcp", "203.0.113.9:5000", 5*time.Second)
						if err != nil {
							return true
						}
						c.SetDeadline(time.Now().Add(5 * time.Second))
						heard, _ := bufio.NewReader(c).ReadString('\n')
						c.Close()
						if heard != "" {
							t.Errorf("%s, boxed %v: a visitor of 203.0.113.9:5000 hears %q", who.name, boxed, heard)
						}
						return heard != ""
					})
					if ways := other.visits(t); len(ways) > 0 {
						t.Errorf("%s, boxed %v: %d were led to the other server", who.name, boxed, len(ways))
					}
				})
				if !seen || r.code != 0 {
					t.Errorf("%s, boxed %v: %v", who.name, boxed, r)
				}
			}
		}
	})
}

// TestNetworkEveryIPv6Address: a rule on every IPv6 address opens no IPv4 one; with a rule on those as well, both are open.
func TestNetworkEveryIPv6Address(t *testing.T) {
	if !hasIPv6() {
		t.Skip("needs IPv6")
	}
	outside(t, func(t *testing.T, w *world) {
		six, four := "\"[::]:5001\" = \"listen\"\n", "\"0.0.0.0:5001\" = \"listen\"\n"
		for _, who := range people() {
			for _, c := range []struct {
				boxed bool
				rules string
				four  bool
			}{{false, six, true}, {true, six, false}, {true, six + four, true}} {
				if c.boxed && controlOnly() {
					return
				}
				s := trial{scene: newScene(t, who), boxed: c.boxed}
				s.takes(t, "taken.py")
				s.net(t, c.rules)
				var open []string
				r := s.watch(t, call{argv: s.words(t, "taken.py", nil, ":::5001")}, func() {
					for _, place := range []string{"[2001:db8::1]:5001", "[::1]:5001", "203.0.113.9:5001", "127.0.0.1:5001"} {
						if c, err := net.Dial("tcp", place); err == nil {
							c.Close()
							open = append(open, place)
						}
					}
				})
				want := []string{"[2001:db8::1]:5001", "[::1]:5001"}
				if c.four {
					want = append(want, "203.0.113.9:5001", "127.0.0.1:5001")
				}
				if r.out != "started\n:::5001 serves hello True\nready\n" || !slices.Equal(open, want) {
					t.Errorf("%s, boxed %v, rules\n%sopen are %q, want %q: %v", who.name, c.boxed, c.rules, open, want, r)
				}
			}
		}
	})
}

// TestUnixSocketsAttackNamed: the socket that a rule on an abstract name of the host puts into the box cannot be given such a name itself.
func TestUnixSocketsAttackNamed(t *testing.T) {
	outside(t, func(t *testing.T, w *world) {
		raid(t, []string{"named.py"}, func(t *testing.T, s trial, program string) (reached string) {
			there := "there-" + s.word
			w.gate(t, "unix", "@"+there)
			s.net(t, fmt.Sprintf("%q = \"connect\"\n", "unix:@"+there))
			r := s.started(t, s.watch(t, call{argv: s.words(t, program, nil, there, "own-"+s.word)}, func() {
				if strings.Contains(fileText(t, "/proc/self/net/unix"), "@own-"+s.word) {
					reached = "a name of the host's"
				}
			}))
			if !strings.Contains(r.out, "\ngate\n") || !strings.Contains(r.out, "ready\n") {
				t.Errorf("the allowed connect did not succeed, so nothing is proved: %v", r)
			}
			return reached
		})
	})
}

// TestLearnNetworkBarred: a server that could not be made gives no rule: a socket where no file may be made, a port that is taken.
func TestLearnNetworkBarred(t *testing.T) {
	outside(t, func(t *testing.T, w *world) {
		w.mailbox(t, "127.0.0.1:5301")
		w.gate(t, "tcp", "127.0.0.1:5302")
		for _, who := range people() {
			for _, boxed := range []bool{false, true} {
				if boxed && controlOnly() {
					return
				}
				s := trial{scene: newScene(t, who), boxed: boxed}
				s.takes(t, "barred.py")
				s.files(t, map[string]string{"open/file": "", "closed/file": ""})
				must(t, os.Chmod(filepath.Join(s.project, "closed"), 0o555))
				barred := []string{"unix:open/file", "unix:gone/barred", "udp:127.0.0.1:5301", "tcp:127.0.0.1:5302"}
				if s.who.uid != 0 { // root makes files there
					barred = append(barred, "unix:closed/barred")
				}
				serves := []string{"unix:open/door", "udp:127.0.0.1:5303", "tcp:127.0.0.1:5304"}
				want := "started\n" + strings.Join(barred, " is barred\n") + " is barred\n" + strings.Join(serves, " serves\n") + " serves\n"
				var options []string
				if boxed {
					options = []string{"--learn"}
				}
				if r := s.run(t, call{argv: s.argv(t, options, append([]string{"barred.py"}, append(barred, serves...)...)...)}); r.out != want || r.code != 0 {
					t.Errorf("%s, boxed %v: %v\nwant\n%s", who.name, boxed, r, want)
				}
				if !boxed {
					continue
				}
				policy, _ := s.policy(t)
				if got, want := netLines(policy), []string{`"127.0.0.1:5304" = "listen"`, `"udp://127.0.0.1:5303" = "listen"`}; !slices.Equal(sorted(lines(got)), want) {
					t.Errorf("%s learned %q, want %q", who.name, got, want)
				}
				for _, name := range []string{"barred\"", "open/file", "gone", "closed"} {
					if strings.Contains(policy, name) {
						t.Errorf("%s: a rule for %s:\n%s", who.name, name, policy)
					}
				}
				if !strings.Contains(policy, "open/") {
					t.Errorf("%s: no rule for the socket that was made:\n%s", who.name, policy)
				}
			}
		}
	})
}
