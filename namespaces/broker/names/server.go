package names

import (
	"context"
	"net/netip"
)

// Lookup asks the host for the addresses of a name, in lower case and without a final dot, in the order in which they are to be tried. It
// must end when ctx does. A *net.DNSError with IsNotFound says that there is no such name; any other error that it is not known. It is
// called from several goroutines at once.
type Lookup func(ctx context.Context, name string) ([]netip.Addr, error)

// Config is what a Server is told. Ruled and Refused get names in lower case, without a final dot and made of letters, digits, - and _ alone,
// so they can be printed; they are called from several goroutines at once, as often as the program asks.
type Config struct {
	// Ruled says whether some rule of the policy could let the box reach the name. Without it no name has a rule.
	Ruled func(name string) bool
	// Refused hears of each question for a name without a rule, expansions of the program's search list among them. It does not hear what
	// no rule could allow: texts that are no host name, addresses asked for their names, probes of resolvers. It may be nil.
	Refused func(name string)
	// Lookup asks the host; nil is HostLookup().
	Lookup Lookup
	// Hostname is the box's own host name, which means 127.0.0.1; "" for none.
	Hostname string
}

// Server knows the names of one run. Its methods may be called from several goroutines at once.
type Server struct {
	ruled    func(string) bool
	refused  func(string)
	own      string
	hosts    *lookups
	standIns *standIns
}

// New gives a server that knows no name yet.
func New(c Config) *Server {
	s := &Server{ruled: c.Ruled, refused: c.Refused, standIns: newStandIns()}
	if s.ruled == nil {
		s.ruled = func(string) bool { return false }
	}
	if s.refused == nil {
		s.refused = func(string) {}
	}
	if c.Lookup == nil {
		c.Lookup = HostLookup()
	}
	s.hosts = newLookups(c.Lookup)
	s.own, _ = hostName(c.Hostname)
	return s
}

// Meaning says what an address of 198.18.0.0/15 stands for: a name, and which of its real addresses, counted from 0, to be taken modulo their
// number, which changes. ok is false for an address that was not given out, so for every real one.
func (s *Server) Meaning(addr netip.Addr) (name string, which int, ok bool) {
	return s.standIns.meaning(addr)
}

// Addresses gives the real addresses of a name, at least one and at most 64, without zones. What the host said is kept for 5 seconds, a
// failure for one; who asks for the same name at the same time shares one look-up. It asks for names without a rule too. It ends after 10
// seconds at the latest. Its errors are *net.DNSError: IsNotFound says that there is no such name, IsTemporary that it is not known.
func (s *Server) Addresses(ctx context.Context, name string) ([]netip.Addr, error) {
	plain, ok := hostName(name)
	if !ok {
		return nil, noSuchHost(name)
	}
	return s.hosts.addresses(ctx, plain)
}
