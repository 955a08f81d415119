package policy

import "net/netip"

// NetParts is the object of a [net] rule taken apart, for those who write it in another tool's words. Exactly one of Unix, Any, Name, Below
// and Prefix is set.
type NetParts struct {
	UDP    bool
	Unix   string       // path of a socket, "@name" for an abstract one; then there are no ports
	Any    bool         // "*"
	Name   string       // one host name, lower case
	Below  string       // "*.pypi.org" as "pypi.org": every name below it
	Prefix netip.Prefix // an address or a network
	Ports  []PortRun    // in order, none overlapping; 0 to 0 is any free port, EveryPort every one
}

// PortRun is a run of ports, both ends included.
type PortRun struct{ From, To int }

// EveryPort is what "*" stands for.
var EveryPort = PortRun{1, 65535}

// Net takes the object of a [net] rule apart ("pypi.org:443", "udp://10.0.0.0/8:53", "unix:/run/x"). What no rule could hold is an error.
func Net(object string) (NetParts, error) {
	n, err := parseNet(object)
	if err != nil {
		return NetParts{}, err
	}
	p := NetParts{UDP: n.udp, Unix: n.unix, Any: n.any, Name: n.name, Prefix: n.prefix}
	if n.suffix != "" {
		p.Below = n.suffix[1:]
	}
	for _, r := range n.ports.merged() {
		p.Ports = append(p.Ports, PortRun{r.lo, r.hi})
	}
	return p, nil
}
