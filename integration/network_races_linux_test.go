package integration

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// raceSeconds is how long a race goes on: most once, for root in C; what more is there shows that nothing depends on who and what.
func raceSeconds(s trial, program, most string) string {
	switch {
	case !s.boxed:
		return "0.4"
	case throughLite:
		return "0.7"
	case s.who.uid == 0 && strings.HasSuffix(program, ".c"):
		return most
	}
	return "1"
}

// tallies reads the counts a race prints last.
func tallies(t *testing.T, r result, words ...string) (counts []int) {
	t.Helper()
	for _, word := range words {
		m := regexp.MustCompile(`(?m)\b` + word + ` (\d+)`).FindStringSubmatch(r.out)
		if m == nil {
			t.Fatalf("no count of %s: %v", word, r)
		}
		n, _ := strconv.Atoi(m[1])
		counts = append(counts, n)
	}
	return counts
}

// TestNetworkAttackFlippedAddress: two threads change host and port in memory while connect runs. What is judged is what is connected: a
// listening place that no rule names never gets a visitor.
func TestNetworkAttackFlippedAddress(t *testing.T) { outside(t, flippedAddress) }

func flippedAddress(t *testing.T, w *world) {
	for _, kind := range []string{"by name", "by address"} {
		t.Run(kind, func(t *testing.T) {
			programs := []string{"flips.c", "flips.py"}
			if kind == "by address" || throughLite {
				programs = programs[:1]
			}
			good, rule := "good.test", `"good.test:8080" = "connect"`
			if kind == "by address" {
				good, rule = "203.0.113.5", `"203.0.113.5:8080" = "connect"`
			}
			raid(t, programs, func(t *testing.T, s trial, program string) string {
				w.names.set("good.test", fixed("203.0.113.5"))
				allowed := w.gate(t, "tcp", "203.0.113.5:8080")
				doors := map[string]*gate{"another host": w.gate(t, "tcp", "203.0.113.6:8080"), "another port": w.gate(t, "tcp", "203.0.113.5:9090"),
					"both": w.gate(t, "tcp", "203.0.113.6:9090")}
				defer allowed.listener.Close()
				s.net(t, rule+"\n")
				seconds := raceSeconds(s, program, map[string]string{"by name": "8", "by address": "1"}[kind])
				r := s.ventures(t, program, seconds, good, "203.0.113.6", "8080", "9090")
				counts := tallies(t, r, "connected", "refused")
				reached := ""
				for _, name := range []string{"another host", "another port", "both"} {
					if n := len(doors[name].visits(t)); n > 0 {
						reached += fmt.Sprintf("%s %d times ", name, n)
					}
					doors[name].listener.Close()
				}
				if s.boxed && (counts[0] == 0 || counts[1] == 0 || len(allowed.visits(t)) == 0) {
					t.Errorf("the race was none: %v", r)
				}
				return reached
			})
		})
	}
}

// TestNetworkAttackFlippedDatagrams: the same for datagrams, whose sending the kernel itself reads from memory.
func TestNetworkAttackFlippedDatagrams(t *testing.T) {
	outside(t, func(t *testing.T, w *world) {
		w.names.set("good.test", fixed("203.0.113.5"))
		flipLetters(t, w)
	})
}

// flipLetters runs the race with a socket of the box.
func flipLetters(t *testing.T, w *world) {
	raid(t, []string{"letters.c"}, func(t *testing.T, s trial, program string) string {
		allowed := w.mailbox(t, "203.0.113.5:123")
		boxes := []*mailbox{w.mailbox(t, "203.0.113.6:123"), w.mailbox(t, "203.0.113.5:124"), w.mailbox(t, "203.0.113.6:124")}
		s.net(t, "\"udp://good.test:123\" = \"connect\"\n")
		seconds := raceSeconds(s, program, "2")
		args := []string{seconds, "good.test", "203.0.113.6", "123", "124"}
		r := s.ventures(t, program, args...)
		counts := tallies(t, r, "sent", "refused")
		reached := ""
		for _, box := range boxes {
			if n := len(box.mail(t)); n > 0 {
				reached += fmt.Sprintf("%s %d times ", box.conn.LocalAddr(), n)
			}
			box.conn.Close()
		}
		if s.boxed && (counts[0] == 0 || len(allowed.mail(t)) == 0) {
			t.Errorf("the race was none: %v", r)
		}
		allowed.conn.Close()
		return reached
	})
}

// TestNetworkAttackFlippedListen: another thread changes the port in memory while bind and listen run. Of the host's ports only the one that
// a rule names is ever listened at.
func TestNetworkAttackFlippedListen(t *testing.T) {
	outside(t, func(t *testing.T, w *world) {
		raid(t, []string{"binds.c"}, func(t *testing.T, s trial, program string) string {
			s.net(t, "\"127.0.0.1:5040\" = \"listen\"\n")
			before := append(listeners(t), "127.0.0.1:5040")
			reached := make(chan string)
			done := make(chan struct{})
			go func() {
				seen := map[string]int{}
				for {
					select {
					case <-done:
						if len(seen) > 0 {
							reached <- fmt.Sprint("servers of the host at ", seen)
						}
						reached <- ""
						return
					default:
						for _, place := range listeners(t) {
							if !slices.Contains(before, place) {
								seen[place]++
							}
						}
					}
				}
			}()
			r := s.ventures(t, program, raceSeconds(s, program, "1"), "5040", "5041")
			close(done)
			if counts := tallies(t, r, "served"); counts[0] == 0 {
				t.Errorf("the race was none: %v", r)
			}
			return <-reached
		})
	})
}

// TestNetworkAttackSwappedDescriptor: another thread puts another socket at the number that connect and sendto were given; one of them came from
// outside. None gets to the host's loopback or to a place without a rule.
func TestNetworkAttackSwappedDescriptor(t *testing.T) {
	outside(t, func(t *testing.T, w *world) {
		w.names.set("good.test", fixed("203.0.113.5"))
		raid(t, []string{"swaps.c"}, func(t *testing.T, s trial, program string) string {
			loop, bad, mail := w.gate(t, "tcp", "127.0.0.1:9090"), w.gate(t, "tcp", "203.0.113.6:9090"), w.mailbox(t, "203.0.113.6:124")
			s.net(t, "\"good.test:81\" = \"connect\"\n\"udp://good.test:81\" = \"connect\"\n")
			seconds := raceSeconds(s, program, "2")
			r := s.ventures(t, program, seconds, "good.test", "81", "9090", "203.0.113.6", "9090", "124")
			counts := tallies(t, r, "connects")
			reached := ""
			if a, b, c := len(loop.visits(t)), len(bad.visits(t)), len(mail.mail(t)); a+b+c > 0 {
				reached = fmt.Sprintf("the host's loopback %d times, a host without a rule %d times, by datagrams %d times", a, b, c)
			}
			loop.listener.Close()
			bad.listener.Close()
			mail.conn.Close()
			if counts[0] == 0 {
				t.Errorf("the race was none: %v", r) // the box's own listener at least
			}
			return reached
		})
	})
}
