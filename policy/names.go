package policy

// JudgeName judges a host name before anybody knows what port is wanted, as a name server has to: it is allowed where a
// connect rule opens some port of it, by TCP or UDP, that no deny takes away again; "*" counts for names that may be
// public ones. By is the narrowest such rule; Blocker, where the name is refused, the narrowest deny that takes away what a
// rule opens, or all there is. Fix says nothing: a rule needs a port. What is no host name, such as an address, is refused.
//
// Precondition: as Decide.
func (p *Policy) JudgeName(name string) Verdict {
	v := Verdict{Locked: p.Locked}
	if name = hostName(name); checkHost(name) != nil {
		return v
	}
	bestBy, bestBlock := -1, -1
	for _, udp := range []bool{false, true} {
		asked := netPattern{udp: udp, name: name, ports: everyPort}
		rules, denies := p.onHost(OpConnect, asked), p.onHost(OpDeny, asked)
		wanted := everyPort // what a deny must touch to stand in the way: all, or what rules open
		if len(rules) > 0 {
			wanted = nil
		}
		var denied ports
		for _, d := range denies {
			denied = append(denied, d.net.ports...)
		}
		for _, r := range rules {
			wanted = append(wanted, r.net.ports...)
			if rank := r.net.narrow(); rank > bestBy && len(r.net.ports.minus(denied)) > 0 {
				v.By, bestBy = r.rule, rank
			}
		}
		if len(wanted.minus(denied)) > 0 {
			continue
		}
		for _, d := range denies {
			if rank := d.net.narrow(); rank > bestBlock && wanted.minus(d.net.ports).size() < wanted.size() {
				v.Blocker, bestBlock = d.rule, rank
			}
		}
	}
	if v.Allowed = v.By != nil; v.Allowed {
		v.Blocker = nil
	}
	return v
}

// RulesName says whether some rule could allow to connect to the host name; see JudgeName.
func (p *Policy) RulesName(name string) bool { return p.JudgeName(name).Allowed }

// HasNet says whether any rule lets the program connect or listen, to a unix socket too.
func (p *Policy) HasNet() bool {
	for i := range p.Rules {
		if op := p.Rules[i].Op; op == OpConnect || op == OpListen {
			return true
		}
	}
	return false
}

// HasUDP says whether any rule lets the program send or serve datagrams.
func (p *Policy) HasUDP() bool {
	for i := range p.Rules {
		r := &p.Rules[i]
		if n, err := parseNet(r.Pattern.Object); (r.Op == OpConnect || r.Op == OpListen) && err == nil && n.udp {
			return true
		}
	}
	return false
}

// hostRule is a rule of [net] with its object taken apart.
type hostRule struct {
	rule *Rule
	net  netPattern
}

// onHost gives the rules of one right that match the host asked for, whatever the port.
func (p *Policy) onHost(op Op, asked netPattern) []hostRule {
	var out []hostRule
	for i := range p.Rules {
		r := &p.Rules[i]
		if r.Op != op {
			continue
		}
		if n, err := parseNet(r.Pattern.Object); err == nil && n.unix == "" && n.udp == asked.udp && n.coversHost(asked, op) {
			out = append(out, hostRule{r, n})
		}
	}
	return out
}
