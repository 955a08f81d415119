package integration

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// TestNetworkAttackLookUps: a look-up of a name without a rule leaves no trace at the host's name server, whoever is asked and
// however; and what the host's name server is asked for a name with a rule is always the same.
func TestNetworkAttackLookUps(t *testing.T) {
	outside(t, func(t *testing.T, w *world) {
		w.names.set("good.test", always(answer{addresses: addresses("203.0.113.5"), texts: []string{"order"}}))
		w.names.set("*.exfil.test", fixed("203.0.113.6"))
		w.names.set("*.good.test", fixed("203.0.113.6"))
		servers := []string{"127.0.0.53", "127.0.0.99", "192.0.2.53"}
		for _, rules := range []string{"", "\"good.test:80\" = \"connect\"\n", "\"good.test:80\" = \"connect\"\n\"203.0.113.0/24:53\" = \"connect\"\n\"udp://203.0.113.0/24:53\" = \"connect\"\n\"*.other.test:443\" = \"connect\"\n"} {
			t.Run(fmt.Sprint(strings.Count(rules, "\n"), " rules"), func(t *testing.T) {
				raid(t, []string{"tunnel.py"}, func(t *testing.T, s trial, program string) string {
					w.names.forget()
					s.net(t, rules, "[files]\n\"/usr/bin/getent\" = \"exec\"\n")
					r := s.ventures(t, program, append([]string{s.word}, servers...)...)
					seen := map[query]bool{}
					reached := ""
					for _, q := range w.names.asked() {
						seen[q] = true
						if strings.Contains(q.name, s.word) || strings.HasSuffix(q.name, ".arpa.") || q.name != "good.test." || q.kind != dnsmessage.TypeA && q.kind != dnsmessage.TypeAAAA {
							reached = fmt.Sprintf("the host's name server: %v; ", q)
						}
					}
					if !s.boxed {
						for _, q := range []query{{s.word + ".exfil.test.", dnsmessage.TypeA, "udp"}, {s.word + ".exfil.test.", dnsmessage.TypeTXT, "tcp"}, {"GoOd.TeSt.", dnsmessage.TypeA, "udp"}} {
							if !seen[q] {
								t.Errorf("control: no question %v: %v", q, r)
							}
						}
					}
					return reached
				})
			})
		}
	})
}

// TestNetworkAttackRebinding: a name whose zone answers with an address of the own machine or network, now or later, beside another or alone, leads
// nowhere. Metadata addresses need a rule on the address even where private ones are allowed.
func TestNetworkAttackRebinding(t *testing.T) { outside(t, rebindingNames) }

func rebindingNames(t *testing.T, w *world) {
	public := "203.0.113.5"
	cases := map[string]struct {
		zone  zone
		rules string
	}{
		"one after another": {rebinding(public, "169.254.169.254", "127.0.0.1", "10.9.8.7", "127.0.0.53", public, "10.9.8.7", "fd00::1"), `"allowed.test:8080" = "connect"`},
		"beside another":    {fixed(public, "10.9.8.7", "169.254.169.254", "127.0.0.1", "fd00::1", "::1", "::ffff:10.9.8.7", "64:ff9b::a09:807"), `"allowed.test:8080" = "connect"`},
		"turning":           {rotating("10.9.8.7", public, "127.0.0.1", "::ffff:127.0.0.1"), `"allowed.test:*" = "connect"`},
		"under a wildcard":  {rotating("10.9.8.7", "127.0.0.1", "0.0.0.0", "::"), `"*.test:8080" = "connect"`},
		"metadata":          {fixed("169.254.169.254"), `"allowed.test:8080" = ["connect", "private"]`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			raid(t, []string{"rebinds.py"}, func(t *testing.T, s trial, program string) string {
				w.names.set("allowed.test", c.zone)
				places := []string{"169.254.169.254:8080", "127.0.0.1:8080", "10.9.8.7:8080", "127.0.0.53:8080"}
				if hasIPv6() {
					places = append(places, "[fd00::1]:8080", "[::1]:8080")
				}
				var doors []*gate
				for _, place := range places {
					doors = append(doors, w.gate(t, "tcp", place))
				}
				good := w.gate(t, "tcp", public+":8080")
				s.net(t, c.rules+"\n")
				r := s.ventures(t, program, "allowed.test", "8080")
				reached := ""
				for i, d := range doors {
					if ways := d.visits(t); len(ways) > 0 {
						reached += fmt.Sprintf("%s by %q; ", places[i], ways)
					}
					d.listener.Close()
				}
				if ways := good.visits(t); s.boxed && name == "beside another" && len(ways) == 0 {
					t.Errorf("the one address that is nobody's was not reached: %v", r)
				}
				good.listener.Close()
				return reached
			})
		})
	}
}

// TestNetworkAttackRebindingDatagrams: the same for datagrams, also on a socket that has sent before.
func TestNetworkAttackRebindingDatagrams(t *testing.T) {
	outside(t, func(t *testing.T, w *world) {
		for name, zone := range map[string]zone{"one after another": rebinding("203.0.113.5", "10.9.8.7", "127.0.0.1", "169.254.169.254", "203.0.113.5", "10.9.8.7"),
			"turning": rotating("10.9.8.7", "203.0.113.5", "127.0.0.1", "0.0.0.0")} {
			t.Run(name, func(t *testing.T) {
				raid(t, []string{"sends.py"}, func(t *testing.T, s trial, program string) string {
					w.names.set("allowed.test", zone)
					var boxes []*mailbox
					for _, place := range []string{"10.9.8.7:123", "127.0.0.1:123", "169.254.169.254:123"} {
						boxes = append(boxes, w.mailbox(t, place))
					}
					s.net(t, "\"udp://allowed.test:123\" = \"connect\"\n")
					r := s.ventures(t, program, "allowed.test", "123")
					reached := ""
					for _, box := range boxes {
						if letters := box.mail(t); len(letters) > 0 {
							reached += fmt.Sprintf("%s by %q: %v", box.conn.LocalAddr(), letters, r)
						}
						box.conn.Close()
					}
					return reached
				})
			})
		}
	})
}

// TestNetworkPrivateIsRuled: names of the own network are reached with the right private, or with a rule on the address or its range;
// metadata addresses with a rule on the address.
func TestNetworkPrivateIsRuled(t *testing.T) {
	if controlOnly() {
		t.Skip("needs psb")
	}
	outside(t, func(t *testing.T, w *world) {
		w.names.set("office.test", fixed("10.9.8.7"))
		w.names.set("meta.test", fixed("169.254.169.254"))
		w.gate(t, "tcp", "10.9.8.7:8080")
		w.gate(t, "tcp", "169.254.169.254:8080")
		w.gate(t, "tcp", "127.0.0.1:8080")
		for rules, want := range map[string][]string{
			`"office.test:8080" = "connect"`:                                                  nil,
			`"office.test:8080" = ["connect", "private"]`:                                     {"office.test"},
			"\"office.test:8080\" = \"connect\"\n\"10.9.8.7:8080\" = \"connect\"":             {"office.test", "10.9.8.7"},
			"\"office.test:8080\" = \"connect\"\n\"10.0.0.0/8:8080\" = \"connect\"":           {"office.test", "10.9.8.7"},
			`"*.test:8080" = ["connect", "private"]`:                                          {"office.test"},
			"\"meta.test:8080\" = \"connect\"\n\"169.254.169.254:8080\" = \"connect\"":        {"meta.test", "169.254.169.254"},
			`"127.0.0.1:8080" = "connect"`:                                                    {"127.0.0.1", "localhost"},
			`"localhost:8080" = "connect"`:                                                    {"localhost", "127.0.0.1"},
			"\"10.9.8.0/24:8080\" = \"connect\"\n\"10.9.8.7:*\" = \"deny\"":                   nil,
			"\"office.test:8080\" = [\"connect\", \"private\"]\n\"10.9.8.7:8080\" = \"deny\"": nil,
			"\"*.test:8080\" = [\"connect\", \"private\"]\n\"office.test:1-9000\" = \"deny\"": nil,
		} {
			for _, who := range people() {
				s := trial{scene: newScene(t, who), boxed: true}
				s.takes(t, "spellings.py")
				s.net(t, rules+"\n")
				r := s.ventures(t, "spellings.py", "8080", "office.test", "10.9.8.7", "meta.test", "169.254.169.254", "127.0.0.1", "localhost")
				var got []string
				for line := range strings.Lines(r.out) {
					if f := strings.Fields(line); f[0] == "connected" && !slices.Contains(got, f[1]) {
						got = append(got, f[1])
					}
				}
				if !slices.Equal(sorted(lines(got)), sorted(lines(want))) {
					t.Errorf("%s under %s reached %q, want %q: %v", who.name, rules, got, want, r)
				}
			}
		}
	})
}

// TestNetworkAttackMixedNames: a rule on a name and a port opens no other port of it, no other name behind the same address, and not the
// address itself.
func TestNetworkAttackMixedNames(t *testing.T) { outside(t, mixedNames) }

func mixedNames(t *testing.T, w *world) {
	w.names.set("a.test", fixed("203.0.113.5"))
	w.names.set("b.test", fixed("203.0.113.6"))
	w.names.set("shared.test", fixed("203.0.113.5"))
	raid(t, []string{"mixes.py"}, func(t *testing.T, s trial, program string) string {
		var ways []string
		var doors []*gate
		for _, place := range []string{"203.0.113.5:8080", "203.0.113.5:9090", "203.0.113.6:8080", "203.0.113.6:9090", "203.0.113.5:9999"} {
			doors = append(doors, w.gate(t, "tcp", place))
		}
		s.net(t, "\"a.test:8080\" = \"connect\"\n\"b.test:9090\" = \"connect\"\n")
		r := s.ventures(t, program, "a.test", "8080", "b.test", "9090", "shared.test", "203.0.113.5", "203.0.113.6")
		for _, d := range doors {
			ways = append(ways, d.visits(t)...)
			d.listener.Close()
		}
		for _, way := range []string{"first", "second"} {
			if !slices.Contains(ways, way) {
				t.Errorf("what is allowed was not reached: %q, %v", ways, r)
			}
		}
		ways = slices.DeleteFunc(ways, func(way string) bool { return way == "first" || way == "second" })
		if len(ways) > 0 {
			return fmt.Sprintf("places by %q", ways)
		}
		return ""
	})
}

// TestNetworkAttackChildren: a child that is not Python is held by the same rules, and a proxy in the environment changes nothing.
func TestNetworkAttackChildren(t *testing.T) {
	outside(t, func(t *testing.T, w *world) {
		_, err := exec.LookPath("curl")
		ledger.Need(t, "curl", err)
		w.names.set("good.test", fixed("203.0.113.5"))
		w.names.set("bad.test", fixed("203.0.113.6"))
		raid(t, []string{"children.py"}, func(t *testing.T, s trial, program string) string {
			good, bad, proxy := w.gate(t, "tcp", "203.0.113.5:8080"), w.gate(t, "tcp", "203.0.113.6:8080"), w.gate(t, "tcp", "203.0.113.9:3128")
			s.net(t, "\"good.test:8080\" = \"connect\"\n", "[env]\n\"*_proxy\" = true\n", "[files]\n\"/usr/bin/curl\" = \"exec\"\n\"/bin/bash\" = \"exec\"\n")
			s.env = []string{"http_proxy=http://203.0.113.9:3128", "https_proxy=http://203.0.113.9:3128", "all_proxy=socks5://203.0.113.9:3128"}
			r := s.ventures(t, program, "good.test", "8080", "bad.test", "203.0.113.6")
			if n := len(good.visits(t)); n < 2 {
				t.Errorf("what is allowed was reached %d times: %v", n, r)
			}
			ways := append(bad.visits(t), proxy.visits(t)...)
			for _, g := range []*gate{good, bad, proxy} {
				g.listener.Close()
			}
			if len(ways) > 0 {
				return fmt.Sprintf("a host without a rule by %q", ways)
			}
			return ""
		})
	})
}
