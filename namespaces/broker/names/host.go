package names

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
)

// HostLookup asks as a program on the host would: /etc/hosts, then the servers of /etc/resolv.conf with its search list, read anew when they
// change. It uses Go's resolver, so no name service library of the host is loaded.
func HostLookup() Lookup { return lookupBy(nil) }

// lookupBy is HostLookup with another way to the servers.
func lookupBy(dial func(ctx context.Context, network, address string) (net.Conn, error)) Lookup {
	resolver := &net.Resolver{PreferGo: true, Dial: dial}
	return wholeFirst(func(ctx context.Context, name string) ([]netip.Addr, error) {
		return resolver.LookupNetIP(ctx, "ip", name)
	})
}

// wholeFirst asks for a name with a dot as it stands before it leaves it to the host's search list. A host whose resolv.conf has ndots:5
// would ask for pypi.org.corp.example before pypi.org, but a rule on pypi.org means that one. "db", and "db.prod" where there is no such
// domain, still go through the list. Where it is not known whether the name exists, another one must not step in.
func wholeFirst(ask Lookup) Lookup {
	return func(ctx context.Context, name string) ([]netip.Addr, error) {
		if strings.Contains(name, ".") {
			if addrs, err := ask(ctx, name+"."); !notFound(err) {
				return addrs, err
			}
		}
		return ask(ctx, name)
	}
}

func notFound(err error) bool {
	var d *net.DNSError
	return errors.As(err, &d) && d.IsNotFound
}
