package integration

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// TestNetworkSickResolvers: a name server of the host that is dead, late, lying, or says too much costs a program its look-up, in bounded time,
// and nothing else: the other names are found, and psb lives.
func TestNetworkSickResolvers(t *testing.T) {
	outside(t, func(t *testing.T, w *world) {
		w.resolves(t, "nameserver 127.0.0.53\noptions timeout:1 attempts:2\n")
		well := answer{addresses: addresses("203.0.113.5"), ttl: 60}
		w.names.set("good.test", always(well))
		names, want := []string{"good.test"}, map[string]string{"good.test": "found 1"}
		add := func(name string, z zone, found string) {
			w.names.set(name, z)
			names, want[name] = append(names, name), found
		}
		for what, change := range lies {
			add(strings.NewReplacer(" ", "-", "'", "").Replace(what)+".test", twisted(change, "203.0.113.5"), "gaierror")
		}
		want["counts-beyond-its-end.test"] = "any" // what stands before the end is an answer to the question
		dead, _ := held(t, well)
		add("dead.test", dead, "gaierror")
		add("silent.test", always(answer{silent: true}), "gaierror")
		add("late.test", late(1, well), "found 1")
		add("cut.test", always(answer{addresses: well.addresses, cut: true}), "found 1")
		add("crowd.test", always(func() answer { a := crowd(20, "203.0.113.10"); a.cut = true; return a }()), "found some")
		add("huge.test", always(func() answer { a := crowd(3000, "198.51.100.0"); a.cut = true; return a }()), "any") // 48 kB of answers
		add("empty.test", always(answer{}), "gaierror")
		add("none.test", always(answer{code: dnsmessage.RCodeNameError}), "gaierror")
		w.gate(t, "tcp", "203.0.113.5:8080")
		for nth, who := range people() {
			for _, boxed := range []bool{false, true} {
				if boxed && controlOnly() {
					return
				}
				if !boxed && nth > 0 {
					continue // the name servers are as sick for everybody
				}
				s := trial{scene: newScene(t, who), boxed: boxed}
				s.takes(t, "asks_all.py")
				var rules strings.Builder
				for _, name := range names {
					fmt.Fprintf(&rules, "%q = \"connect\"\n", name+":80")
				}
				s.net(t, rules.String()+"\"good.test:8080\" = \"connect\"\n")
				w.names.set("late.test", late(1, well))
				r := s.ventures(t, "asks_all.py", append([]string{"good.test", "8080"}, names...)...)
				if !strings.HasSuffix(r.out, "\ngate\n") || r.code != 0 {
					t.Errorf("%s, boxed %v: the name that is well was not reached: %v", who.name, boxed, r)
				}
				for _, name := range names {
					_, got, _ := strings.Cut(r.out, "\n"+name+" ")
					got, _, _ = strings.Cut(got, "\n")
					if want := want[name]; want != "any" && got != want && !(want == "found some" && strings.HasPrefix(got, "found ")) {
						t.Errorf("%s, boxed %v: %s %s, want %s", who.name, boxed, name, got, want)
					}
				}
			}
		}
	})
}

// TestNetworkNoResolver: where nobody answers at the address the host names, a look-up fails and a connect to an address goes on.
func TestNetworkNoResolver(t *testing.T) {
	outside(t, func(t *testing.T, w *world) {
		w.resolves(t, "nameserver 192.0.2.222\n")
		w.gate(t, "tcp", "203.0.113.5:8080")
		for _, who := range people() {
			for _, boxed := range []bool{false, true} {
				if boxed && controlOnly() {
					return
				}
				s := trial{scene: newScene(t, who), boxed: boxed}
				s.takes(t, "asks_all.py")
				s.net(t, "\"good.test:80\" = \"connect\"\n\"203.0.113.5:8080\" = \"connect\"\n")
				if r := s.ventures(t, "asks_all.py", "203.0.113.5", "8080", "good.test"); r.out != "started\ngood.test gaierror\ngate\n" {
					t.Errorf("%s, boxed %v: %v", who.name, boxed, r)
				}
			}
		}
	})
}
