package main

import (
	"net/netip"
	"slices"
	"strings"

	"psb/learn"
	"psb/policy"
	"psb/policy/plan"
)

// answer is what somebody said to a question of --ask.
type answer uint8

const (
	deny    answer = iota
	once           // until the program ends
	lasting        // and in every later run: a line in the policy
)

// mostQuestions bounds what one run may ask: who answers a hundred questions reads none.
const mostQuestions = 100

// answers are those of one run.
type answers struct {
	given  map[policy.Access]answer
	hosts  map[string]answer // to look-ups of names
	spent  map[string]bool   // hosts whose answer the first port that was asked for has taken over
	asked  int
	enough bool // nothing more is to be asked
}

func newAnswers() answers {
	return answers{given: map[policy.Access]answer{}, hosts: map[string]answer{}, spent: map[string]bool{}}
}

// count counts one question; true for the last that may be put.
func (s *answers) count() bool {
	s.asked++
	last := s.asked == mostQuestions && !s.enough
	s.enough = s.enough || last
	return last
}

// wider are what an allowed access brings with it, as a line for it would: what may be changed may be read, and what the run made is its own.
var wider = map[policy.Op][]policy.Op{policy.OpRead: {policy.OpWrite, policy.OpCreate}, policy.OpWrite: {policy.OpCreate}}

// known gives an earlier answer. A host that was allowed when its name was looked up is allowed at the first port that the program tries.
func (s *answers) known(a policy.Access) (said answer, ok bool) {
	host := hostOf(a.Object)
	if nameOnly(a) {
		said, ok = s.hosts[host]
		return said, ok
	}
	if said, ok = s.given[a]; ok {
		return said, ok
	}
	for _, op := range wider[a.Op] {
		if s.given[policy.Access{Op: op, Object: a.Object}] != deny {
			return once, true // whatever lasts is written already
		}
	}
	if a.Op != policy.OpConnect {
		return deny, false
	}
	if said, ok = s.hosts[host]; ok && said != deny && s.spent[host] {
		return deny, false
	}
	s.spent[host] = s.spent[host] || ok
	return said, ok
}

// keep remembers an answer; fresh is false where it was there already. Once nothing more is asked, what is not known is denied.
func (s *answers) keep(a policy.Access, said answer) (fresh bool) {
	if s.enough && said == deny {
		return false
	}
	if nameOnly(a) {
		_, had := s.hosts[hostOf(a.Object)]
		s.hosts[hostOf(a.Object)] = said
		return !had
	}
	_, had := s.given[a]
	s.given[a] = said
	return !had
}

// askable tells what may be asked of a person: nothing that a line of the policy refuses, that not even a learning run gets, or that could not be
// handed in.
func (j *job) askable(known *learn.Knowledge, a policy.Access, v policy.Verdict) bool {
	if v.Allowed || v.Blocker != nil || v.Locked {
		return false
	}
	switch a.Op {
	case policy.OpConnect, policy.OpPrivate:
		if strings.HasPrefix(a.Object, "unix:") || strings.HasPrefix(a.Object, "udp://") {
			return false
		}
		host := hostOf(a.Object)
		addr, _ := netip.ParseAddr(host)
		return !policy.Metadata(addr) && !policy.MetadataName(host)
	case policy.OpRead, policy.OpWrite, policy.OpCreate:
		hidden := func(p *plan.Place) bool { return p.Hidden && (a.Object == p.Path || below(a.Object, p.Path)) }
		return !known.Never(a) && !j.elsewhere(a.Object) && !slices.ContainsFunc(j.plan.Places, hidden)
	}
	return false
}

// asRules are the lines that make an answer last. A file that is made gets a line of its own, as learning writes it: the next run finds it there.
func asRules(p *policy.Policy, a policy.Access) []policy.Rule {
	rules := []policy.Rule{p.Decide(a).Fix}
	if a.Op == policy.OpCreate && !strings.HasSuffix(a.Object, "/") {
		rules = append(rules, p.Decide(policy.Access{Op: policy.OpWrite, Object: a.Object}).Fix)
	}
	for i := range rules {
		rules[i].Why = "asked"
	}
	return rules
}
