package main

import (
	"slices"

	"psb/policy"
	"psb/pythonshim"
)

// lookups are the ports that Python wanted of the hosts that it looked up: a name is refused before anybody asks for one. They become no denial
// by themselves, for most look-ups are granted. The zero value is ready.
type lookups struct{ of map[string][]*denial }

// A program may look up what it likes.
const (
	mostLookups = 4096 // hosts
	mostPorts   = 8    // of one host
)

func (l *lookups) add(n pythonshim.Note) {
	a := policy.Access{Op: policy.OpConnect, Object: saidAddress(n.Args[0], n.Args[1])}
	host := hostOf(a.Object)
	if host == "" || nameOnly(a) {
		return
	}
	have := l.of[host]
	if accessIn(have, a) != nil || len(have) == mostPorts || have == nil && len(l.of) == mostLookups {
		return
	}
	if l.of == nil {
		l.of = map[string][]*denial{}
	}
	l.of[host] = append(have, &denial{Access: a, Op: string(a.Op), Object: a.Object, Where: n.At, Count: 1, Source: "reported"})
}

// join puts behind each name that was refused what Python wanted of it, as if an error had told.
func (l *lookups) join(list []*denial) []*denial {
	var out []*denial
	for _, d := range list {
		out = append(out, d)
		if d.Source != "kernel" || !nameOnly(d.Access) {
			continue
		}
		for _, port := range l.of[hostOf(d.Object)] {
			said := func(o *denial) bool { return o.Access == port.Access && o.Source == port.Source }
			if !slices.ContainsFunc(list, said) {
				one := *port
				out = append(out, &one)
			}
		}
	}
	return out
}
