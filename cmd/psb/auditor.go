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
	loopback map[policy.Access]bool // connects to the host's own loopback, unless something in the box listened there
	listened map[uint16]bool        // ports of the box's own servers
	upper    *os.File               // what the overlays hold
}

func newAuditor() *auditor {
	return &auditor{names: map[string]bool{}, reached: map[string]bool{}, loopback: map[policy.Access]bool{}, listened: map[uint16]bool{}}
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
	if ap, err := netip.ParseAddrPort(a.Object); v.Allowed && a.Op == policy.OpConnect && err == nil && ap.Addr().IsLoopback() {
		l.notes.mu.Lock()
		if len(l.notes.loopback) < mostNames {
			l.notes.loopback[a] = true
		}
		l.notes.mu.Unlock()
	}
	v.Allowed, v.By = false, nil
	return v
}

// RulesName lets every name be asked for; standIn answers.
func (l auditingJudge) RulesName(name string) bool {
	l.notes.mu.Lock()
	defer l.notes.mu.Unlock()
	if len(l.notes.names) < mostNames {
		l.notes.names[name] = true
	}
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
	host := strings.TrimPrefix(a.Object, "udp://")
	if i := strings.LastIndexByte(host, ':'); i > 0 {
		r.audit.mu.Lock()
		if r.audit.names[host[:i]] {
			r.audit.reached[host[:i]] = true
		}
		r.audit.mu.Unlock()
	}
	r.did(0, a, "")
}

// contacts adds the connects to the host's loopback to what was wanted, and gives the names that were only looked up.
func (r *recorder) contacts() []string {
	a := r.audit
	a.mu.Lock()
	defer a.mu.Unlock()
	for access := range a.loopback {
		if ap, err := netip.ParseAddrPort(access.Object); err == nil && !a.listened[ap.Port()] {
			r.mu.Lock()
			r.set.Add(learn.Accessed{Access: access})
			r.mu.Unlock()
		}
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
