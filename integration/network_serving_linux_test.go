package integration

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// serving runs a server until visit has come back from it; then it is interrupted, as from a terminal.
func (s trial) serving(t *testing.T, argv []string, place string, visit func()) result {
	t.Helper()
	cmd := s.command(t.Context(), call{argv: argv, env: s.env})
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	must(t, cmd.Start())
	over := make(chan struct{})
	go func() { cmd.Wait(); close(over) }()
	until(t, "somebody listens at "+place, func() bool {
		select {
		case <-over:
			t.Fatalf("%q ended: %v", argv, ended(cmd.ProcessState, out.String(), errs.String()))
		default:
		}
		c, err := net.Dial("tcp", place)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	visit()
	cmd.Process.Signal(syscall.SIGINT)
	select {
	case <-over:
	case <-time.After(time.Minute):
		cmd.Process.Kill()
		<-over
		t.Errorf("%q does not end when it is interrupted", argv)
	}
	return ended(cmd.ProcessState, out.String(), errs.String())
}

// TestNetworkServer: real servers in the box are learned with the address and port they listen at, and are then reached from the host, by
// curl and by many connections at once.
func TestNetworkServer(t *testing.T) {
	outside(t, func(t *testing.T, w *world) {
		for _, name := range []string{"curl", "wrk"} {
			_, err := exec.LookPath(name)
			ledger.Need(t, name, err)
		}
		list := []struct{ program, needs, host, port string }{
			{"site.py", "flask", "127.0.0.1", "5000"}, {"plain.py", "", "0.0.0.0", "5001"}, {"plain.py", "", "::1", "5002"}, {"loop.py", "aiohttp", "127.0.0.1", "5003"},
		}
		for _, c := range list {
			if strings.Contains(c.host, ":") && !hasIPv6() {
				continue
			}
			place := net.JoinHostPort(c.host, c.port)
			t.Run(c.program+" "+place, func(t *testing.T) {
				for _, who := range people() {
					t.Run(who.name, func(t *testing.T) {
						s := trial{scene: newScene(t, who)}
						if c.needs != "" {
							_, err := s.choose(t, "system", []string{c.needs})
							ledger.Need(t, c.needs, err)
						}
						s.takes(t, c.program)
						visit := func() { s.visitSite(t, place, who.uid == 0 && c.host != "::1" || os.Getuid() != 0) }
						control := s.serving(t, s.argv(t, nil, c.program, c.host, c.port), place, visit)
						if controlOnly() {
							return
						}
						s.boxed = true
						learn := s.serving(t, s.argv(t, []string{"--learn"}, c.program, c.host, c.port), place, func() { s.curl(t, place) })
						policy, _ := s.policy(t)
						if got := netLines(policy); !slices.Equal(got, []string{fmt.Sprintf("%q = \"listen\"", place)}) {
							t.Errorf("learned %q: %v", got, learn)
						}
						enforced := s.serving(t, s.argv(t, nil, c.program, c.host, c.port), place, visit)
						if enforced.status() != control.status() || enforced.out != control.out {
							t.Errorf("enforced: %v\ncontrol: %v", enforced, control)
						}
						if said, _ := psbLines(enforced.err); len(said) > 0 {
							t.Errorf("psb had to say something: %v", enforced)
						}
						if c, err := net.Dial("tcp", place); err == nil {
							c.Close()
							t.Errorf("somebody still listens at %s", place)
						}
					})
				}
			})
		}
	})
}

func (s trial) curl(t *testing.T, place string) {
	t.Helper()
	for _, page := range []string{"one", "two"} {
		out, err := exec.Command("curl", "-sS", "-m", "10", "http://"+place+"/"+page).CombinedOutput()
		if err != nil || string(out) != "page "+page+"\n" {
			t.Errorf("curl: %v %q", err, out)
		}
	}
}

// visitSite comes with curl, and then with twenty connections that stay.
func (s trial) visitSite(t *testing.T, place string, many bool) {
	t.Helper()
	s.curl(t, place)
	if !many {
		return
	}
	out, err := exec.Command("wrk", "-t", "2", "-c", "20", "-d", "1s", "http://"+place+"/page").CombinedOutput()
	if m := regexp.MustCompile(`(\d+) requests in`).FindSubmatch(out); err != nil || m == nil || string(m[1]) == "0" ||
		bytes.Contains(out, []byte("Non-2xx")) || regexp.MustCompile(`Socket errors: connect [^0]|Socket errors:.*timeout [^0]`).Match(out) {
		t.Errorf("wrk: %v\n%s", err, out)
	}
	s.curl(t, place)
}

// TestNetworkListenIsRuled: a server that a rule names is the host's, with the host's answer where the port is taken; one that none names is
// the box's own. Both serve the program itself.
func TestNetworkListenIsRuled(t *testing.T) {
	outside(t, func(t *testing.T, w *world) {
		w.gate(t, "tcp", "127.0.0.1:5009")
		for _, who := range people() {
			t.Run(who.name, func(t *testing.T) {
				for _, boxed := range []bool{false, true} {
					if boxed && controlOnly() {
						return
					}
					s := trial{scene: newScene(t, who), boxed: boxed}
					s.takes(t, "taken.py")
					s.net(t, "\"127.0.0.1:5010\" = \"listen\"\n\"127.0.0.1:5009\" = \"listen\"\n\"0.0.0.0:5014\" = \"listen\"\n")
					var open []string
					r := s.started(t, s.watch(t, call{argv: s.words(t, "taken.py", nil, "127.0.0.1:5010", "127.0.0.1:5011", "127.0.0.1:5009", "127.0.0.1:5013", "0.0.0.0:5014")}, func() {
						for _, place := range []string{"127.0.0.1:5010", "127.0.0.1:5011", "127.0.0.1:5013", "127.0.0.1:5014", "203.0.113.9:5014"} {
							if c, err := net.Dial("tcp", place); err == nil {
								c.Close()
								open = append(open, place)
							}
						}
					}))
					want := "started\n127.0.0.1:5010 serves hello True\n127.0.0.1:5011 serves hello True\n127.0.0.1:5009 EADDRINUSE\n" +
						"127.0.0.1:5013 serves hello True\n0.0.0.0:5014 serves hello True\nready\n"
					reached := []string{"127.0.0.1:5010", "127.0.0.1:5014", "203.0.113.9:5014"}
					if !boxed {
						reached = []string{"127.0.0.1:5010", "127.0.0.1:5011", "127.0.0.1:5013", "127.0.0.1:5014", "203.0.113.9:5014"}
					}
					if r.out != want || r.code != 0 {
						t.Errorf("boxed %v: %v\nwant\n%s", boxed, r, want)
					}
					if !slices.Equal(open, reached) {
						t.Errorf("boxed %v: from outside %q are open, want %q: %v", boxed, open, reached, r)
					}
				}
			})
		}
	})
}

// TestNetworkListenAtAnAddress: a rule may name an address of the host that is none of the box's own.
func TestNetworkListenAtAnAddress(t *testing.T) {
	outside(t, func(t *testing.T, w *world) {
		for _, who := range people() {
			for _, boxed := range []bool{false, true} {
				if boxed && controlOnly() {
					return
				}
				s := trial{scene: newScene(t, who), boxed: boxed}
				s.takes(t, "plain.py")
				s.net(t, "\"192.0.2.1:5004\" = \"listen\"\n")
				s.serving(t, s.words(t, "plain.py", nil, "192.0.2.1", "5004"), "192.0.2.1:5004", func() { s.visitSite(t, "192.0.2.1:5004", false) })
			}
		}
	})
}
