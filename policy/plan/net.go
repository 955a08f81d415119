package plan

import (
	"fmt"
	"path"
	"strings"

	"psb/policy"
)

// NetRules are the policy's lines on the network, in their order.
func (p *Plan) NetRules() (list []policy.Rule) {
	for _, r := range p.Policy.Rules {
		switch r.Op {
		case policy.OpConnect, policy.OpListen, policy.OpPrivate, policy.OpDeny:
			list = append(list, r)
		}
	}
	return list
}

// network says whether there is a broker, what the rules of [net] need of the host, and where their unix sockets stand.
func (c *compiler) network(p *Plan) {
	p.Brokered = c.host.Seccomp && c.host.Notify && (p.Provider == Namespaces || c.lite && c.host.Landlock.ABI >= 4)
	p.Datagrams = p.Brokered && !c.lite && (c.mode.Learning() || c.policy.HasUDP())
	p.Sockets = map[string]string{}
	for _, name := range p.Command.Sockets {
		if strings.HasPrefix(name, "@") {
			continue
		}
		p.Sockets[name] = c.look.Resolve(name).Path
	}
	for _, r := range c.policy.Rules {
		if r.Deny || r.Op != policy.OpConnect && r.Op != policy.OpListen {
			continue
		}
		switch udp := strings.HasPrefix(r.Pattern.Object, "udp://"); {
		case p.Provider == None:
			continue
		case !p.Brokered:
			c.gaps = addGap(c.gaps, Gap{Name: "net", Lost: fmt.Sprintf("%s %s: no broker reaches it for the box", r.Op, r.Pattern.Text),
				Needs: "Linux 5.9 and no other seccomp listener around psb; without namespaces Landlock ABI 4 (Linux 6.7), too"})
			continue
		case udp && c.lite:
			c.gaps = addGap(c.gaps, Gap{Name: "net", Lost: fmt.Sprintf("%s %s: without a network of its own a box has no datagrams", r.Op, r.Pattern.Text), Needs: "--provider namespaces"})
			continue
		}
		name, ok := strings.CutPrefix(r.Pattern.Object, "unix:")
		if !ok || strings.HasPrefix(name, "@") || r.Op != policy.OpConnect {
			continue
		}
		o := c.look.Resolve(name)
		p.Sockets[name] = o.Path
		if rest, ok := strings.CutPrefix(o.Path, "/run/"); ok && c.look.Resolve("/var/run").Path == "/run" {
			p.Sockets["/var/run/"+rest] = o.Path // the older name of the same folder, which many programs still use
		}
		for _, l := range o.Links {
			if c.mode == Enforce && c.policyWrites(path.Dir(l.At)) {
				c.gaps = addGap(c.gaps, Gap{Name: "link", Lost: fmt.Sprintf("%q goes through the link %q, which stands in a folder the box may write", name, l.At),
					Needs: "the path of its target, " + shortQuote(o.Path)})
			}
		}
	}
}
