package names

import (
	"context"
	"net/netip"

	"golang.org/x/net/dns/dnsmessage"
)

// ttl is for how many seconds a program may keep an address. What it stands for never changes, and the real ones are looked up again at each
// connect, so only questions are saved by it; it has an end so that a name whose host got more addresses is seen to have them. "No such name"
// comes without an SOA record, so resolvers do not keep it (RFC 2308, 5): the rule may be added, or the name come to life.
const ttl = 60

// Types that are about the name server, not about a name, and that dnsmessage has no word for.
const (
	typeTKEY  = dnsmessage.Type(249)
	typeMAILA = dnsmessage.Type(254)
)

// Answer gives the answer to one DNS message in at most most bytes, which is 512 for a datagram, whatever the message says that it takes: no
// answer is longer. nil is no answer: the message is none, or is itself an answer. It waits for the host for 10 seconds at most; where ctx has
// ended, it answers what it can without waiting, and "server failure" to the rest.
func (s *Server) Answer(ctx context.Context, message []byte, most int) []byte {
	q, code, ok := read(message)
	if !ok {
		return nil
	}
	var records []dnsmessage.Resource
	if code == dnsmessage.RCodeSuccess {
		code, records = s.judge(ctx, q.question[0])
	}
	return q.answer(code, records, most)
}

// judge is the one place where it is said what a question gets.
func (s *Server) judge(ctx context.Context, q dnsmessage.Question) (dnsmessage.RCode, []dnsmessage.Resource) {
	if q.Class != dnsmessage.ClassINET || q.Type == dnsmessage.TypeOPT || q.Type >= typeTKEY && q.Type <= typeMAILA {
		return dnsmessage.RCodeRefused, nil
	}
	if q.Name.String() == "." {
		return dnsmessage.RCodeSuccess, nil // the root exists, and has no address
	}
	name, ok := hostName(q.Name.String())
	if !ok || probe(name) {
		return dnsmessage.RCodeNameError, nil
	}
	if addr, ok := reverse(name); ok {
		return s.nameOf(addr, q)
	}
	if loopback(name) {
		return dnsmessage.RCodeSuccess, records(q, netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback())
	}
	if name == s.own {
		return dnsmessage.RCodeSuccess, records(q, netip.AddrFrom4([4]byte{127, 0, 0, 1}))
	}
	if !s.ruled(name) {
		// Names of services ("_http._tcp") are asked for with PTR to see who is there, by no wish of the program.
		if q.Type != dnsmessage.TypePTR {
			s.refused(name)
		}
		return dnsmessage.RCodeNameError, nil
	}
	if q.Type != dnsmessage.TypeA && q.Type != dnsmessage.TypeAAAA {
		return dnsmessage.RCodeSuccess, nil // what else a name has would be of no use inside, and is not asked for
	}
	return s.standingFor(ctx, name, q)
}

// standingFor answers for the addresses of a name with a rule. The host is asked first, so that the program hears the truth about names that
// do not exist or are not known.
func (s *Server) standingFor(ctx context.Context, name string, q dnsmessage.Question) (dnsmessage.RCode, []dnsmessage.Resource) {
	found, err := s.hosts.addresses(ctx, name)
	if notFound(err) {
		return dnsmessage.RCodeNameError, nil
	}
	if err != nil {
		return dnsmessage.RCodeServerFailure, nil
	}
	if q.Type == dnsmessage.TypeAAAA {
		return dnsmessage.RCodeSuccess, nil // the IPv4 stand-ins stand for IPv6 addresses as well
	}
	given := s.standIns.take(name, len(found))
	if len(given) == 0 {
		return dnsmessage.RCodeServerFailure, nil
	}
	return dnsmessage.RCodeSuccess, records(q, given...)
}

// nameOf answers for the name of an address.
func (s *Server) nameOf(addr netip.Addr, q dnsmessage.Question) (dnsmessage.RCode, []dnsmessage.Resource) {
	name, _, ok := s.Meaning(addr)
	if addr == netip.AddrFrom4([4]byte{127, 0, 0, 1}) || addr == netip.IPv6Loopback() {
		name, ok = "localhost", true
	}
	if !ok {
		return dnsmessage.RCodeNameError, nil
	}
	target, err := dnsmessage.NewName(name + ".")
	if q.Type != dnsmessage.TypePTR || err != nil {
		return dnsmessage.RCodeSuccess, nil
	}
	return dnsmessage.RCodeSuccess, []dnsmessage.Resource{{Header: header(q), Body: &dnsmessage.PTRResource{PTR: target}}}
}

// records are the addresses of the kind that was asked for.
func records(q dnsmessage.Question, addrs ...netip.Addr) (list []dnsmessage.Resource) {
	for _, a := range addrs {
		switch {
		case a.Is4() && q.Type == dnsmessage.TypeA:
			list = append(list, dnsmessage.Resource{Header: header(q), Body: &dnsmessage.AResource{A: a.As4()}})
		case a.Is6() && q.Type == dnsmessage.TypeAAAA:
			list = append(list, dnsmessage.Resource{Header: header(q), Body: &dnsmessage.AAAAResource{AAAA: a.As16()}})
		}
	}
	return list
}

// header names the record as the question did, letter by letter: some resolvers mix capitals into a name and compare.
func header(q dnsmessage.Question) dnsmessage.ResourceHeader {
	return dnsmessage.ResourceHeader{Name: q.Name, Class: dnsmessage.ClassINET, TTL: ttl}
}
