package main

import (
	"context"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"

	"psb/learn"
	"psb/namespaces/broker/names"
	"psb/policy"
)

// mostNames bounds what is kept of names that a program looks up: it may make up as many as it likes.
const mostNames = 2000

// auditor is what an audit notes beside what learning does.
type auditor struct {
	mu       sync.Mutex
	names    map[string]bool        // looked up
	reached  map[string]bool        // of those, connected to
	refused  map[policy.Access]bool // connects that the broker refused
	loopback map[policy.Access]bool // connects to the host's own loopback, unless something in the box listened there
	peers    map[policy.Access]bool // names that datagram sockets were connected to, unless it was for the sake of a connect
	listened map[uint16]bool        // ports of the box's own servers
	upper    *os.File               // what the overlays hold
}

func newAuditor() *auditor {
	return &auditor{names: map[string]bool{}, reached: map[string]bool{}, refused: map[policy.Access]bool{}, loopback: map[policy.Access]bool{},
		peers: map[policy.Access]bool{}, listened: map[uint16]bool{}}
}

// keep notes one more of what a program may do as often as it likes.
func keep[K comparable](set map[K]bool, k K) {
	if len(set) < mostNames {
		set[k] = true
	}
}

func (a *auditor) close() { a.upper.Close() } // nil is fine

// auditingJudge lets nothing reach the network, and notes what a learning run would have let.
type auditingJudge struct {
	learning learningJudge
	notes    *auditor
}

// Decide refuses what would leave the box. Servers in it stay its own.
func (l auditingJudge) Decide(a policy.Access) policy.Verdict {
	v := l.learning.Decide(a)
	if a.Op == policy.OpListen {
		return v
	}
	if v.Allowed && a.Op == policy.OpConnect {
		l.notes.asked(a)
	}
	v.Allowed, v.By = false, nil
	return v
}

// asked notes what is refused without a word: connects to the loopback that the box shares with nobody, and peers of datagram sockets.
func (n *auditor) asked(a policy.Access) {
	n.mu.Lock()
	defer n.mu.Unlock()
	ap, err := netip.ParseAddrPort(a.Object)
	switch {
	case err == nil && ap.Addr().IsLoopback():
		keep(n.loopback, a)
	case strings.HasPrefix(a.Object, "udp://") && n.names[hostOf(a.Object)]:
		keep(n.peers, a)
	}
}

// RulesName lets every name be asked for; standIn answers.
func (l auditingJudge) RulesName(name string) bool {
	l.notes.mu.Lock()
	defer l.notes.mu.Unlock()
	keep(l.notes.names, name)
	return true
}

// PublishAt keeps every server inside.
func (auditingJudge) PublishAt(netip.AddrPort, bool) []netip.AddrPort { return nil }

// standIn answers every name with an address of documentation (RFC 5737), and asks nobody: a name that is looked up can carry anything out. The
// program sees a stand-in for it in any case.
func standIn() names.Lookup {
	return func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.AddrFrom4([4]byte{192, 0, 2, 1})}, nil
	}
}

// refusedAccess hears of what the broker refused. What a learning run would have let through is something the program wants; the rest is the floor's.
func (r *recorder) refusedAccess(a policy.Access) {
	if r.audit == nil {
		r.did(0, a, "EACCES")
		return
	}
	if !(learningJudge{r.j.policy, nil}).Decide(a).Allowed {
		r.did(0, a, "EACCES")
		return
	}
	r.audit.mu.Lock()
	keep(r.audit.refused, a)
	r.audit.mu.Unlock()
	r.did(0, a, "")
}

// contacts adds what was refused without a word to what was wanted, and gives the names that were only looked up.
func (r *recorder) contacts() []string {
	a := r.audit
	a.mu.Lock()
	defer a.mu.Unlock()
	for access := range a.loopback {
		if ap, err := netip.ParseAddrPort(access.Object); err == nil && !a.listened[ap.Port()] {
			a.refused[access] = true
		}
	}
	for access := range a.peers { // resolvers give a datagram socket a peer to sort addresses by, before the connect that is meant
		if stream := (policy.Access{Op: access.Op, Object: strings.TrimPrefix(access.Object, "udp://")}); !a.refused[stream] {
			a.refused[access] = true
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for access := range a.refused {
		r.set.Add(learn.Accessed{Access: access})
		a.reached[hostOf(access.Object)] = true
	}
	out := []string{}
	for n := range a.names {
		if !a.reached[n] {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out
}

// hears notes the ports of the box's own servers.
func (a *auditor) hears(access policy.Access) {
	ap, err := netip.ParseAddrPort(access.Object)
	if a == nil || access.Op != policy.OpListen || err != nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.listened[ap.Port()] = true
}
