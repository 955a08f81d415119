package integration

import (
	"fmt"
	"net"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// handedWays are what handed.c does with the sockets that allowed connects left behind.
var handedWays = []string{"failed again", "failed unspec", "failed lazily", "connected unspec", "fresh lazily", "fresh highly", "fresh sendto", "failed sendto", "connected sendto",
	"fresh sendmsg", "failed sendmsg", "connected sendmsg", "fresh sendmmsg", "failed sendmmsg", "connected sendmmsg", "failed, duplicated"}

// TestNetworkAttackHandedSocket: the socket that an allowed connect put into the box is the host's. It cannot be connected to
// anything else: by connecting again, after AF_UNSPEC, or with the first data, in every call that sends.
func TestNetworkAttackHandedSocket(t *testing.T) { outside(t, handedSocket) }

func handedSocket(t *testing.T, w *world) {
	w.names.set("good.test", fixed("203.0.113.5"))
	w.gate(t, "tcp", "203.0.113.5:8080")
	for _, place := range []string{"203.0.113.6:9090", "203.0.113.5:9090", "127.0.0.1:9090"} {
		t.Run(place, func(t *testing.T) {
			raid(t, []string{"handed.c"}, func(t *testing.T, s trial, program string) string {
				bad := w.gate(t, "tcp", place)
				defer bad.listener.Close()
				s.net(t, "\"good.test:80-8080\" = \"connect\"\n")
				host, port, _ := strings.Cut(place, ":")
				r := s.ventures(t, program, "good.test", "81", "8080", host, port)
				ways := bad.visits(t)
				if !s.boxed {
					for _, way := range handedWays {
						if !slices.Contains(ways, way) {
							t.Fatalf("control: no visit by %q: %q, %v", way, ways, r)
						}
					}
				}
				if s.boxed && !strings.Contains(r.out, "allowed: 0") {
					t.Errorf("the allowed connect did not succeed, so nothing is proved: %v", r)
				}
				if len(ways) > 0 {
					return fmt.Sprintf("%s by %q", place, ways)
				}
				return ""
			})
		})
	}
}

// TestNetworkAttackForgottenSocket: nor when so many connects have failed since that nobody can remember it.
func TestNetworkAttackForgottenSocket(t *testing.T) {
	outside(t, func(t *testing.T, w *world) {
		w.names.set("good.test", fixed("203.0.113.5"))
		raid(t, []string{"forgotten.c"}, func(t *testing.T, s trial, program string) string {
			loop, bad := w.gate(t, "tcp", "127.0.0.1:9090"), w.gate(t, "tcp", "203.0.113.6:9090")
			defer loop.listener.Close()
			defer bad.listener.Close()
			s.net(t, "\"good.test:81\" = \"connect\"\n")
			before := listeners(t)
			served := ""
			r := s.started(t, s.watch(t, call{argv: s.words(t, program, nil, "good.test", "81", "203.0.113.6", "9090")}, func() {
				for _, place := range listeners(t) {
					if !slices.Contains(before, place) {
						served = "a server at " + place
					}
				}
			}))
			if ways := append(loop.visits(t), bad.visits(t)...); len(ways) > 0 || served != "" {
				return fmt.Sprintf("places without a rule by %q, %s: %v", ways, served, r)
			}
			return ""
		})
	})
}

// TestNetworkAttackHandedSocketTells: the socket that an allowed connect put into the box does not tell what the host's network is made of.
func TestNetworkAttackHandedSocketTells(t *testing.T) {
	outside(t, func(t *testing.T, w *world) {
		w.names.set("good.test", fixed("203.0.113.5"))
		w.gate(t, "tcp", "203.0.113.5:8080")
		raid(t, []string{"tells.py"}, func(t *testing.T, s trial, program string) string {
			s.net(t, "\"good.test:8080\" = \"connect\"\n")
			r := s.ventures(t, program, "good.test", "8080")
			for _, address := range []string{"10.9.8.7", "192.0.2.1", "169.254.169.254"} {
				if strings.Contains(r.out, address) {
					return fmt.Sprintf("the host's address %s: %v", address, r)
				}
			}
			return ""
		})
	})
}

// TestNetworkAttackHandedServer: nor can it be made a server of the host's.
func TestNetworkAttackHandedServer(t *testing.T) {
	outside(t, func(t *testing.T, w *world) {
		w.names.set("good.test", fixed("203.0.113.5"))
		w.gate(t, "tcp", "203.0.113.5:8080")
		raid(t, []string{"servers.c"}, func(t *testing.T, s trial, program string) string {
			s.net(t, "\"good.test:81\" = \"connect\"\n\"good.test:8080\" = \"connect\"\n")
			reached := ""
			// What listens now is looked for from outside, wherever it listens: the world's own ports are known.
			before := listeners(t)
			r := s.started(t, s.watch(t, call{argv: s.words(t, program, nil, "good.test", "81", "8080")}, func() {
				for _, place := range listeners(t) {
					if slices.Contains(before, place) {
						continue
					}
					reached += "a server at " + place
					if c, err := net.Dial("tcp", place); err == nil {
						c.Close()
						reached += " that answers; "
					}
				}
			}))
			if !strings.Contains(r.out, "allowed: 0") || !strings.Contains(r.out, "ready") {
				t.Errorf("the allowed connect did not succeed, so nothing is proved: %v", r)
			}
			if reached != "" {
				return fmt.Sprint(reached, r)
			}
			if !s.boxed && !servesAgain(t, false) {
				return "what this kernel gives nobody"
			}
			return ""
		})
	})
}

// TestNetworkAttackPublishedServer: a server that a rule names, and what it accepts, cannot be turned into anything else of the host's.
func TestNetworkAttackPublishedServer(t *testing.T) {
	outside(t, func(t *testing.T, w *world) {
		raid(t, []string{"accepted.c"}, func(t *testing.T, s trial, program string) string {
			bad := w.gate(t, "tcp", "203.0.113.6:9090")
			defer bad.listener.Close()
			s.net(t, "\"127.0.0.1:5050\" = \"listen\"\n")
			before := append(listeners(t), "127.0.0.1:5050")
			served := ""
			r := s.started(t, s.watch(t, call{argv: s.words(t, program, nil, "5050", "203.0.113.6", "9090")}, func() {
				var last net.Conn
				for range 4 {
					c, err := net.Dial("tcp", "127.0.0.1:5050")
					if err != nil && last != nil {
						continue // it was accepted and cut off already
					}
					must(t, err)
					defer c.Close()
					if last == nil {
						last = c
					}
				}
				last.SetReadDeadline(time.Now().Add(20 * time.Second))
				last.Read(make([]byte, 5))
				for _, place := range listeners(t) {
					if !slices.Contains(before, place) {
						served += "a server at " + place + "; "
					}
				}
			}))
			if ways := bad.visits(t); len(ways) > 0 || served != "" {
				return fmt.Sprintf("a place without a rule by %q, %s%v", ways, served, r)
			}
			if !strings.Contains(r.out, "\naccepted: ") {
				t.Errorf("nothing was accepted, so nothing is proved: %v", r)
			}
			return ""
		})
	})
}

// listeners are the TCP ports of IPv4 that are listened at in the world.
func listeners(t *testing.T) (places []string) {
	t.Helper()
	for _, m := range regexp.MustCompile(`(?m)^\s*\d+: ([0-9A-F]{2})([0-9A-F]{2})([0-9A-F]{2})([0-9A-F]{2}):([0-9A-F]{4}) 00000000:0000 0A `).FindAllStringSubmatch(fileText(t, "/proc/self/net/tcp"), -1) {
		var n [5]int
		for i := range n {
			fmt.Sscanf(m[i+1], "%X", &n[i])
		}
		places = append(places, fmt.Sprintf("%d.%d.%d.%d:%d", n[3], n[2], n[1], n[0], n[4]))
	}
	return places
}
