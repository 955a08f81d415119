// Does to the process: gives the box's network to a broker, in goroutines of psb's own.
// Undone: the broker ends with the box.
// Preconditions: the box has a network of its own and its program's filter a listener.
// Called by: supervise_linux.go, trace_linux.go.
// Proved by: TestNetworkPrograms, TestLearnNetwork.

package main

import (
	"net/netip"
	"slices"
	"strings"

	"psb/namespaces"
	"psb/namespaces/broker"
	"psb/namespaces/broker/names"
	"psb/policy"
	"psb/policy/plan"
)

// newBroker gives the box's network to a broker; nil where the box has none of its own.
func (j *job) newBroker(box *namespaces.Box, judge broker.Judge, refused func(policy.Access), did func(int, policy.Access, string)) (*broker.Broker, error) {
	diag, route := box.Network()
	lite := j.plan.Provider == plan.LandlockOnly
	if diag == nil && !lite || !j.plan.Brokered {
		diag.Close()
		route.Close() // nil is fine
		return nil, nil
	}
	lookup := names.HostLookup()
	if j.plan.Mode == plan.Audit {
		lookup = standIn()
	}
	b, err := broker.New(broker.Config{Lite: lite, Diag: diag, Route: route, Socket: box.Socket, Judge: judge, Sockets: j.plan.Sockets, Hostname: j.plan.Spec.Hostname,
		Lookup: lookup, Refused: refused, Did: did})
	if err != nil {
		diag.Close()
		route.Close()
	}
	return b, err
}

// enforcingJudge is the policy.
func (j *job) enforcingJudge() broker.Judge {
	if j.policy == nil {
		return j.net
	}
	return j.policy
}

// learningJudge lets a learning run reach everything but what the floor and the policy's own lines refuse.
type learningJudge struct {
	policy  *policy.Policy
	sockets []string // of --learn-unix
}

// Decide allows what no line denies: no metadata address, and of the host's unix sockets only those that a rule names.
func (l learningJudge) Decide(a policy.Access) policy.Verdict {
	v := l.policy.Decide(a)
	switch {
	case v.Blocker != nil || v.Allowed:
		return v
	case metadata(a.Object):
		return v
	}
	if name, ok := strings.CutPrefix(a.Object, "unix:"); ok {
		v.Allowed = slices.Contains(l.sockets, name)
		return v
	}
	v.Allowed = a.Op == policy.OpConnect || a.Op == policy.OpListen || a.Op == policy.OpPrivate
	return v
}

// metadata tells the addresses by which a cloud hands out its machines' credentials.
func metadata(object string) bool {
	ap, err := netip.ParseAddrPort(strings.TrimPrefix(object, "udp://"))
	return err == nil && policy.Metadata(ap.Addr())
}

// RulesName lets every name be asked for.
func (l learningJudge) RulesName(string) bool { return true }

// PublishAt lets a server be reached where it listens, as without psb.
func (l learningJudge) PublishAt(asked netip.AddrPort, udp bool) []netip.AddrPort {
	if asked.Port() == 0 {
		return nil
	}
	return []netip.AddrPort{asked}
}
