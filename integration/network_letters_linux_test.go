package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestNetworkDatagrams: datagrams reach what a udp rule names, in every way to send them, and nothing else: no other host, no other port, and
// no host that is ruled for TCP only.
func TestNetworkDatagrams(t *testing.T) {
	outside(t, func(t *testing.T, w *world) {
		w.names.set("good.test", fixed("203.0.113.5"))
		w.names.set("web.test", fixed("203.0.113.6"))
		w.names.set("office.test", fixed("10.9.8.7"))
		raid(t, []string{"letters.py"}, func(t *testing.T, s trial, program string) string {
			places := []string{"203.0.113.5:123", "203.0.113.6:123", "203.0.113.7:123", "10.9.8.7:123", "127.0.0.1:123", "169.254.169.254:123"}
			if hasIPv6() {
				places = append(places, "[2001:db8::9]:123")
			}
			boxes := map[string]*mailbox{}
			for _, place := range places {
				boxes[place] = w.mailbox(t, place)
			}
			hosts := []string{"good.test", "203.0.113.7", "web.test", "office.test", "203.0.113.6", "10.9.8.7", "127.0.0.1", "169.254.169.254", "2001:db8::9", "203.0.113.5"}
			s.net(t, "\"udp://good.test:123\" = \"connect\"\n\"web.test:123\" = \"connect\"\n\"udp://office.test:123\" = \"connect\"\n\"udp://203.0.113.7:124\" = \"connect\"\n\"203.0.113.7:123\" = \"connect\"\n")
			r := s.ventures(t, program, append(hosts, "123")...)
			var ways []string
			for _, place := range places {
				letters := boxes[place].mail(t)
				boxes[place].conn.Close()
				if place == "203.0.113.5:123" {
					for _, way := range []string{"sendto good.test", "sendmsg good.test", "sendmmsg good.test", "send good.test", "sendto while connected good.test", "first"} {
						if !slices.Contains(letters, way+"\n") {
							t.Errorf("%q did not come: %q, %v", way, letters, r)
						}
					}
					continue // nothing goes there that may not
				}
				for _, letter := range letters {
					ways = append(ways, strings.TrimSpace(letter)+" at "+place)
				}
			}
			if s.boxed && strings.Contains(strings.Join(denials(r), " "), "connect udp://good.test:123") {
				t.Errorf("a denial of what is allowed: %v", r)
			}
			if len(ways) > 0 {
				return fmt.Sprintf("places without a rule by %q", ways)
			}
			return ""
		})
	})
}

// TestNetworkDatagramSizes: datagrams of every size that fits arrive whole and answered, each from the address it was sent to, in order.
func TestNetworkDatagramSizes(t *testing.T) {
	outside(t, func(t *testing.T, w *world) {
		w.names.set("good.test", fixed("203.0.113.5"))
		w.mailbox(t, "203.0.113.5:123")
		for _, who := range people() {
			var control result
			for _, boxed := range []bool{false, true} {
				if boxed && controlOnly() {
					return
				}
				s := trial{scene: newScene(t, who), boxed: boxed}
				s.takes(t, "sizes.py")
				s.net(t, "\"udp://good.test:123\" = \"connect\"\n")
				r := s.run(t, call{argv: s.words(t, "sizes.py", nil, "good.test", "123")})
				if boxed && (r.code != 0 || r.out != control.out) || r.code != 0 {
					t.Errorf("%s, boxed %v: %v\ncontrol: %v", who.name, boxed, r, control)
				}
				control = r
			}
		}
	})
}
