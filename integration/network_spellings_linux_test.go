package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// spellings are ways to write addresses of this machine: as C libraries of old read numbers, as IPv4 inside IPv6, as names.
var spellings = []string{"127.0.0.1", "127.1", "127.0.1", "0x7f.1", "0x7f000001", "2130706433", "017700000001", "0177.0.0.1", "127.0.0.2", "127.255.255.254", "0.0.0.0", "0",
	"::1", "::", "::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:0.0.0.0", "0:0:0:0:0:ffff:7f00:0001", "::127.0.0.1", "64:ff9b::7f00:1", "::ffff:0:127.0.0.1", "2002:7f00:1::",
	"localhost", "LocalHost", "localhost.", "ip6-localhost", "any.localhost", "10.9.8.7", "0x0a.0x09.2055", "::ffff:10.9.8.7", "10.9.8.200", "169.254.169.254", "::ffff:a9fe:a9fe",
	"0xa9fea9fe", "203.0.113.5", "203.0.113.6", "::ffff:203.0.113.6", "3405803782", "2001:db8::9", "fd00::1", "office.test", "meta.test", "loop.test",
	"198.18.0.0", "198.18.0.1", "198.18.0.2", "198.18.0.3", "198.18.0.4", "198.18.0.5", "198.18.1.1", "198.19.255.254", "::ffff:198.18.0.1", "::ffff:198.18.0.2"}

// reachedWithout are those by which anybody comes in who is not held.
var reachedWithout = []string{"0x7f.1", "2130706433", "0177.0.0.1", "0.0.0.0", "::ffff:127.0.0.1", "localhost", "10.9.8.7", "::ffff:10.9.8.7", "0xa9fea9fe", "203.0.113.6", "office.test"}

// TestNetworkAttackSpellings: no spelling of an address gets further than the address, and none further than the name it stands for: what is ruled
// here is another port of the same hosts.
func TestNetworkAttackSpellings(t *testing.T) { outside(t, spelledAddresses) }

func spelledAddresses(t *testing.T, w *world) {
	w.names.set("good.test", fixed("203.0.113.5"))
	w.names.set("six.test", fixed("2001:db8::1"))
	w.names.set("office.test", fixed("10.9.8.7"))
	w.names.set("meta.test", fixed("169.254.169.254"))
	w.names.set("loop.test", fixed("127.0.0.1"))
	raid(t, []string{"spellings.py"}, func(t *testing.T, s trial, program string) string {
		everywhere := w.gate(t, "tcp", ":9090")
		defer everywhere.listener.Close()
		s.net(t, strings.Join([]string{`"good.test:8080" = "connect"`, `"six.test:8080" = "connect"`, `"*.sub.test:9090" = "connect"`, `"127.0.0.1:7000" = "connect"`,
			`"[::1]:7000" = "connect"`, `"localhost:7001" = "connect"`, `"0.0.0.0/0:8080" = "connect"`, `"office.test:9090" = "connect"`, `"loop.test:9090" = "connect"`,
			`"meta.test:9090" = ["connect", "private"]`, `"*:9090" = "connect"`, ""}, "\n"))
		r := s.ventures(t, program, append([]string{"9090"}, spellings...)...)
		ways := everywhere.visits(t)
		if !s.boxed {
			for _, way := range reachedWithout {
				if !slices.Contains(ways, way) {
					t.Errorf("control: no visit by %s: %q", way, ways)
				}
			}
		}
		if len(ways) > 0 {
			return fmt.Sprintf("a port by %q", ways)
		}
		if strings.Contains(r.out, "connected") {
			t.Errorf("a connect succeeded: %v", r)
		}
		return ""
	})
}

// TestNetworkDenyWins: what is denied stays denied however it is written, within a range and behind a name that are allowed.
func TestNetworkDenyWins(t *testing.T) {
	outside(t, func(t *testing.T, w *world) {
		w.names.set("office.test", fixed("10.9.8.7"))
		w.names.set("both.test", fixed("10.9.8.7", "10.9.8.8"))
		w.names.set("denied.corp.test", fixed("203.0.113.6"))
		raid(t, []string{"spellings.py"}, func(t *testing.T, s trial, program string) string {
			denied, other, corp := w.gate(t, "tcp", "10.9.8.7:9090"), w.gate(t, "tcp", "10.9.8.8:9090"), w.gate(t, "tcp", "203.0.113.6:9090")
			s.net(t, strings.Join([]string{`"10.9.8.0/24:9090" = "connect"`, `"10.9.8.7:*" = "deny"`, `"office.test:9090" = ["connect", "private"]`,
				`"both.test:9090" = ["connect", "private"]`, `"*.corp.test:9090" = "connect"`, `"denied.corp.test:9090" = "deny"`, ""}, "\n"))
			r := s.ventures(t, program, "9090", "10.9.8.8", "10.9.8.7", "::ffff:10.9.8.7", "0x0a.0x09.2055", "office.test", "both.test", "denied.corp.test")
			if ways := other.visits(t); !slices.Contains(ways, "10.9.8.8") {
				t.Errorf("the range was not reached: %q, %v", ways, r)
			}
			ways := append(denied.visits(t), corp.visits(t)...)
			for _, g := range []*gate{denied, other, corp} {
				g.listener.Close()
			}
			if len(ways) > 0 {
				return fmt.Sprintf("what is denied by %q", ways)
			}
			return ""
		})
	})
}

// TestNetworkAttackShapes: addresses in shapes that the kernel takes and no library makes, devices, and other protocols open nothing.
func TestNetworkAttackShapes(t *testing.T) {
	must := map[string][]string{
		"shapes.c": {"long", "mapped", "short mapped", "noise behind", "datagram", "datagram mapped", "datagram of the other family", "letter mapped", "letter of the other family",
			"letter of no family", "letter with a way"},
		"devices.py":   {"device", "interface", "freebind"},
		"protocols.py": {"TCP", "multipath"},
	}
	outside(t, func(t *testing.T, w *world) {
		w.names.set("good.test", fixed("203.0.113.5"))
		for _, program := range []string{"shapes.c", "devices.py", "protocols.py"} {
			raid(t, []string{program}, func(t *testing.T, s trial, program string) string {
				bad, mail := w.gate(t, "tcp", "203.0.113.6:9090"), w.mailbox(t, "203.0.113.6:124")
				s.net(t, "\"good.test:9090\" = \"connect\"\n\"udp://good.test:124\" = \"connect\"\n\"203.0.113.7:9090\" = \"connect\"\n\"udp://203.0.113.7:124\" = \"connect\"\n")
				r := s.ventures(t, program, "203.0.113.6", "9090", "124")
				ways := bad.visits(t)
				for _, letter := range mail.mail(t) {
					ways = append(ways, strings.TrimSpace(letter))
				}
				bad.listener.Close()
				mail.conn.Close()
				if !s.boxed {
					for _, way := range must[program] {
						if !slices.Contains(ways, way) {
							t.Errorf("control: no visit by %q: %q, %v", way, ways, r)
						}
					}
				}
				if s.boxed && program == "protocols.py" && strings.Contains(r.out, "a socket: multipath") {
					t.Errorf("a socket of another protocol: %v", r)
				}
				if len(ways) > 0 {
					return fmt.Sprintf("a host without a rule by %q", ways)
				}
				return ""
			})
		}
	})
}
