package integration

import (
	"fmt"
	"net"
	"slices"
	"testing"
	"time"
)

// TestNetworkLoopback: the loopback is the box's own; a rule on one of its ports means the host's, as long as nothing in the box listens there.
func TestNetworkLoopback(t *testing.T) {
	outside(t, func(t *testing.T, w *world) {
		for _, place := range []string{"127.0.0.1:7000", "127.0.0.1:7001", "127.0.0.1:7002", "127.0.0.1:7003", "127.0.0.2:7004"} {
			w.gate(t, "tcp", place)
		}
		if hasIPv6() {
			w.gate(t, "tcp", "[::1]:7002")
		}
		w.mailbox(t, "127.0.0.1:7005")
		w.mailbox(t, "127.0.0.1:7006")
		want := map[bool]string{
			false: "started\nbox in use\n127.0.0.1:7000 host\n127.0.0.1:7001 host\nlocalhost:7001 host\n::1:7002 host\n127.0.0.1:7003 host\n127.0.0.2:7004 host\nletter 7005 host\nletter 7006 host\n",
			true: "started\nbox\nafterwards host\n127.0.0.1:7000 host\n127.0.0.1:7001 host\nlocalhost:7001 host\n::1:7002 host\n127.0.0.1:7003 ECONNREFUSED\n127.0.0.2:7004 host\n" +
				"letter 7005 host\nletter 7006 nobody\n",
		}
		for _, who := range people() {
			for _, boxed := range []bool{false, true} {
				if boxed && controlOnly() || !hasIPv6() {
					return
				}
				s := trial{scene: newScene(t, who), boxed: boxed}
				s.takes(t, "loopback.py")
				s.net(t, "\"127.0.0.1:7000\" = \"connect\"\n\"localhost:7001\" = \"connect\"\n\"[::1]:7002\" = \"connect\"\n\"127.0.0.2:7004\" = \"connect\"\n\"udp://127.0.0.1:7005\" = \"connect\"\n")
				if r := s.run(t, call{argv: s.words(t, "loopback.py", nil)}); r.code != 0 || r.out != want[boxed] {
					t.Errorf("%s, boxed %v: %v\nwant\n%s", who.name, boxed, r, want[boxed])
				}
			}
		}
	})
}

// TestNetworkFullQueue: a server inside that has no room for another client lets it wait, and is not lost to it.
func TestNetworkFullQueue(t *testing.T) {
	outside(t, func(t *testing.T, _ *world) {
		for _, who := range people() {
			for _, boxed := range []bool{false, true} {
				if boxed && controlOnly() {
					return
				}
				s := trial{scene: newScene(t, who), boxed: boxed}
				s.takes(t, "queue.py")
				s.net(t, "")
				if r := s.run(t, call{argv: s.words(t, "queue.py", nil)}); r.code != 0 || r.out != "started\nbefore []\nserved b'x'\nafter ['connected']\n" {
					t.Errorf("%s, boxed %v: %v", who.name, boxed, r)
				}
			}
		}
	})
}

// TestNetworkServerAtTwoPlaces: a server for every address is to be reached at those that rules name, and at no other.
func TestNetworkServerAtTwoPlaces(t *testing.T) {
	outside(t, func(t *testing.T, w *world) {
		for _, who := range people() {
			for _, boxed := range []bool{false, true} {
				if boxed && controlOnly() {
					return
				}
				s := trial{scene: newScene(t, who), boxed: boxed}
				s.takes(t, "plain.py")
				s.net(t, "\"127.0.0.1:5030\" = \"listen\"\n\"192.0.2.1:5030\" = \"listen\"\n")
				var open []string
				s.serving(t, s.words(t, "plain.py", nil, "0.0.0.0", "5030"), "127.0.0.1:5030", func() {
					for _, place := range []string{"127.0.0.1:5030", "192.0.2.1:5030", "203.0.113.9:5030", "10.9.8.7:5030"} {
						if c, err := net.Dial("tcp", place); err == nil {
							c.Close()
							open = append(open, place)
							s.curl(t, place)
						}
					}
				})
				if want := map[bool]int{false: 4, true: 2}[boxed]; len(open) != want {
					t.Errorf("%s, boxed %v: open are %q", who.name, boxed, open)
				}
			}
		}
	})
}

// TestNetworkDatagramServer: a server of datagrams is learned with its address and port, and answers whoever writes to it from the host; one
// without a rule is the box's own.
func TestNetworkDatagramServer(t *testing.T) {
	outside(t, func(t *testing.T, w *world) {
		for _, who := range people() {
			t.Run(who.name, func(t *testing.T) {
				s := trial{scene: newScene(t, who)}
				s.takes(t, "echo.py")
				ask := func(argv []string) (answered int, r result) {
					r = s.watch(t, call{argv: argv}, func() {
						for n := range 5 {
							c, err := net.Dial("udp", "127.0.0.1:5020")
							must(t, err)
							fmt.Fprintf(c, "letter %d", n)
							c.SetReadDeadline(time.Now().Add(time.Minute)) // where nobody is there, the kernel says so
							b := make([]byte, 100)
							if k, err := c.Read(b); err == nil && string(b[:k]) == fmt.Sprintf("answer letter %d", n) {
								answered++
							} else if answered == 0 {
								break // nobody is there
							}
							c.Close()
						}
					})
					return answered, r
				}
				if n, r := ask(s.argv(t, nil, "echo.py", "127.0.0.1", "5020")); n != 5 {
					t.Fatalf("control: %d answers: %v", n, r)
				}
				if controlOnly() {
					return
				}
				s.boxed = true
				n, r := ask(s.argv(t, []string{"--learn"}, "echo.py", "127.0.0.1", "5020"))
				policy, _ := s.policy(t)
				if got := netLines(policy); n != 5 || !slices.Equal(got, []string{`"udp://127.0.0.1:5020" = "listen"`}) {
					t.Errorf("while learning %d answers, learned %q: %v", n, got, r)
				}
				for rules, want := range map[string]int{"\"udp://127.0.0.1:5020\" = \"listen\"\n": 5, "\"127.0.0.1:5020\" = \"listen\"\n": 0} {
					s.net(t, rules)
					if n, r := ask(s.words(t, "echo.py", nil, "127.0.0.1", "5020")); n != want {
						t.Errorf("%d answers under %s: %v", n, rules, r)
					}
				}
			})
		}
	})
}
