package learn

import (
	"fmt"
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"

	"psb/policy"
)

// standIns are the addresses that mean names inside a box: another one for the same name in every run.
var standIns = netip.MustParsePrefix("198.18.0.0/15")

// Ports that a kernel gives out when asked for any free one. A program that asks for such a number got it from another.
const firstFree, lastFree = 32768, 60999

// network proposes what was reached outside the box and what was served to it. The box's own traffic is not told.
func (l *ladder) network() {
	if !l.k.Tables["net"] {
		l.countNetwork()
		return
	}
	var failed []string
	for a, f := range l.set.others {
		switch {
		case strings.HasPrefix(a.Object, "unix:"):
			failed = append(failed, l.unixSocket(a, f)...)
		case a.Op == policy.OpConnect:
			failed = append(failed, l.connected(a, f)...)
		case a.Op == policy.OpListen:
			failed = append(failed, l.listened(a, f)...)
		}
	}
	slices.Sort(failed)
	for i, what := range failed {
		if i == mostFailed {
			l.leave(fmt.Sprintf("%s to reach or serve, which failed", count(len(failed)-i, "more place")))
			break
		}
		l.leave(what)
	}
}

// mostFailed bounds the lines on what failed: a program may try every port there is.
const mostFailed = 20

// hostPort takes an address of [net] apart. name is empty for an address; ok is false for what no rule can say.
func hostPort(object string) (name string, addr netip.Addr, port int, udp, ok bool) {
	object, udp = strings.CutPrefix(object, "udp://")
	if ap, err := netip.ParseAddrPort(object); err == nil {
		return "", ap.Addr().Unmap(), int(ap.Port()), udp, true
	}
	i := strings.LastIndexByte(object, ':')
	if _, err := policy.ParseAccess("connect " + object); err != nil || i < 0 {
		return "", netip.Addr{}, 0, udp, false
	}
	port, err := strconv.Atoi(object[i+1:])
	return object[:i], netip.Addr{}, port, udp, err == nil
}

// canonical writes an address of [net] as a policy does: one thing has one name.
func canonical(object string) string {
	if sock, ok := strings.CutPrefix(object, "unix:/"); ok {
		return "unix:" + path.Clean("/"+sock)
	}
	if a, err := policy.ParseAccess("connect " + object); err == nil && !strings.HasPrefix(object, "unix:") {
		return a.Object
	}
	return object
}

// connected answers a connect, or datagrams sent. Failures come back as sentences.
func (l *ladder) connected(a policy.Access, f *fact) (failed []string) {
	name, addr, port, udp, ok := hostPort(a.Object)
	errno := f.failed[a]
	switch {
	case !ok && f.known:
		l.leave("connecting to " + a.Object + ", which no rule can name")
	case ok && port == 0: // no more than a question for a route
	case policy.Metadata(addr) || policy.MetadataName(name):
		l.report.Floor[a] = errno
	case standIns.Contains(addr):
		l.leave("connecting to " + a.Object + ", an address that stands for a name in this run only")
	case !f.known && (errno == "EACCES" || errno == "EPERM"):
		l.report.Refused[a] = errno
	case !f.known && udp: // resolvers try routes that way, and send nothing
	case !f.known:
		return []string{fmt.Sprintf("connecting to %s, which failed (%s)", a.Object, errno)}
	default:
		g := l.allow(a, f.because)
		private := policy.Access{Op: policy.OpPrivate, Object: a.Object}
		if p := l.set.others[private]; name != "" && name != "localhost" && p != nil && p.known {
			l.allow(private, firstOf(f.because, p.because))
			g.Alert = policy.RiskOf(policy.RuleFor(private), l.k.Macros).Why // of the name's own line
		}
	}
	return nil
}

// listened answers a server. A port that the kernel chose is told by nobody outside, and needs no rule.
func (l *ladder) listened(a policy.Access, f *fact) (failed []string) {
	_, addr, port, udp, ok := hostPort(a.Object)
	switch {
	case !ok || !addr.IsValid() || port == 0:
		return nil
	case udp && port >= firstFree: // a client's
		return nil
	case !f.known:
		return []string{fmt.Sprintf("listening on %s, which failed (%s)", a.Object, f.failed[a])}
	}
	if port >= firstFree && port <= lastFree {
		port = 0
	}
	a.Object = netip.AddrPortFrom(addr, uint16(port)).String()
	if udp {
		a.Object = "udp://" + a.Object
	}
	l.allow(a, f.because)
	return nil
}

// unixSocket answers a connect to a socket with a name. One that the run itself bound is the box's own.
func (l *ladder) unixSocket(a policy.Access, f *fact) (failed []string) {
	sock := strings.TrimPrefix(a.Object, "unix:")
	if own := l.set.files[sock]; a.Op != policy.OpConnect || own != nil && (own.made || own.removed) {
		return nil
	}
	errno := f.failed[a]
	_, err := policy.ParseAccess(a.String())
	switch {
	case !f.known && (errno == "ENOENT" || errno == "ENOTDIR"):
		l.report.Lookups++
	case l.k.floor(sock):
		l.report.Floor[a] = errno
	case !f.known && (errno == "EACCES" || errno == "EPERM"):
		l.report.Refused[a] = errno
	case !f.known:
		return []string{fmt.Sprintf("connecting to %s, which failed (%s)", a.Object, errno)}
	case err != nil || !l.nameable(sock) || !strings.HasPrefix(sock, "/") && !strings.HasPrefix(sock, "@"):
		l.leave("connecting to " + strings.ToValidUTF8(a.Object, "?") + ", which no rule can name")
	default:
		l.allow(a, f.because)
	}
	return nil
}

// allow proposes a rule on just that address.
func (l *ladder) allow(a policy.Access, because string) *Grant {
	g := l.grant(a.Op, a.Object, false, because)
	g.Text = policy.RuleFor(a).In(l.k.folder(), l.k.Macros).Pattern.Text
	return g
}

// countNetwork counts what was asked of the network where no rule on it is enforced; the box's own loopback and sockets need none.
func (l *ladder) countNetwork() {
	hosts, ports, sockets := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for a, f := range l.set.others {
		if e := f.failed[a]; !f.known && (e == "ENOENT" || e == "ENOTDIR") {
			l.report.Lookups++
			continue
		}
		if p, isUnix := strings.CutPrefix(a.Object, "unix:"); isUnix {
			if a.Op == policy.OpConnect && !strings.HasPrefix(p, "@") && !l.ownSocket(p) {
				sockets[p] = true
			}
			continue
		}
		object, datagram := strings.CutPrefix(a.Object, "udp://")
		ap, err := netip.ParseAddrPort(object)
		if err != nil || ap.Addr().IsLoopback() || a.Op == policy.OpConnect && ap.Addr().IsUnspecified() || ap.Port() == 0 {
			continue
		}
		switch {
		case a.Op == policy.OpListen:
			ports[a.Object] = true
		case !datagram:
			hosts[ap.Addr().String()] = true
		default: // a connected datagram socket has sent nothing: resolvers probe routes that way
		}
	}
	l.notYet("network/host", len(hosts))
	l.notYet("network/listening port", len(ports))
	l.notYet("network/unix socket", len(sockets))
}

// ownSocket reports a unix socket the run itself bound, or one in the box's own space.
func (l *ladder) ownSocket(p string) bool {
	f := l.set.files[p]
	return l.k.private(p) || f != nil && f.made
}
