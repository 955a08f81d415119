package export

import (
	"net/netip"
	"slices"

	"psb/policy"
)

// kubernetesNet is a NetworkPolicy: nothing comes or goes but what it names. some says that it lets something out.
func (m *maker) kubernetesNet(name string) (some bool, document yamlMap) {
	egress, ingress := yamlList{}, yamlList{}
	var denied []policy.Rule
	for _, r := range m.plan.NetRules() {
		if r.Deny {
			denied = append(denied, r)
		}
	}
	for _, r := range m.plan.NetRules() {
		n, err := policy.Net(r.Pattern.Object)
		if r.Deny || err != nil || r.Op == policy.OpPrivate {
			continue
		}
		switch {
		case n.Unix != "":
			m.lost(line("net", r), "mount the socket's folder by hand")
		case n.Name == "localhost" || n.Prefix.IsValid() && n.Prefix.Addr().IsLoopback():
			m.lost(line("net", r), "a pod's loopback is its own")
		case n.Name != "" || n.Below != "":
			m.lost(line("net", r), "a NetworkPolicy has no names of hosts")
		case r.Op == policy.OpListen && len(n.Ports) == 1 && n.Ports[0].To == 0:
			m.lost(line("net", r), "a NetworkPolicy has no word for any free port")
		case r.Op == policy.OpListen:
			ingress = append(ingress, yamlMap{{"ports", kubernetesPorts(n)}})
		default:
			blocks, why := kubernetesBlocks(n, denied)
			if why != "" {
				m.lost(line("net", r), "%s", why)
			}
			if len(blocks) > 0 {
				egress = append(egress, yamlMap{{"to", blocks}, {"ports", kubernetesPorts(n)}})
			}
		}
	}
	if len(egress) == 0 {
		m.lost("connections within the pod", "connect is refused as a whole: nothing stands behind the filter to see where one goes")
	}
	spec := yamlMap{{"podSelector", yamlMap{{"matchLabels", yamlMap{{"app", name}}}}}, {"policyTypes", yamlList{"Ingress", "Egress"}}, {"ingress", ingress}, {"egress", egress}}
	return len(egress) > 0, yamlMap{{"apiVersion", "networking.k8s.io/v1"}, {"kind", "NetworkPolicy"}, {"metadata", yamlMap{{"name", name}}}, {"spec", spec}}
}

// kubernetesBlocks are the addresses of a connect line without those that a deny line names, whatever its ports; why says what is left out.
func kubernetesBlocks(n policy.NetParts, denied []policy.Rule) (blocks yamlList, why string) {
	cidrs := []netip.Prefix{n.Prefix}
	var except []netip.Prefix
	if n.Any {
		cidrs, except = policy.PublicNetworks()
	}
	for _, r := range denied {
		d, err := policy.Net(r.Pattern.Object)
		switch {
		case err != nil || d.UDP != n.UDP || d.Unix != "" || d.Name != "" || d.Below != "" || !portsMeet(d, n):
		case d.Any:
			return nil, "a deny line takes its ports"
		default:
			except = append(except, d.Prefix)
			if d.Prefix.Overlaps(n.Prefix) && !portsWithin(n, d) {
				why = "what a deny line takes from it is taken for every port"
			}
		}
	}
	for _, c := range cidrs {
		var out yamlList
		whole := true
		for _, e := range except {
			if !e.Overlaps(c) {
				continue
			}
			if e.Bits() <= c.Bits() {
				whole, why = false, "a deny line takes all of it"
				break
			}
			out = append(out, e.String())
		}
		if !whole {
			continue
		}
		block := yamlMap{{"cidr", c.String()}}
		if len(out) > 0 {
			block = append(block, yamlPair{"except", out})
		}
		blocks = append(blocks, yamlMap{{"ipBlock", block}})
	}
	return blocks, why
}

func portsMeet(a, b policy.NetParts) bool {
	return slices.ContainsFunc(a.Ports, func(p policy.PortRun) bool {
		return slices.ContainsFunc(b.Ports, func(q policy.PortRun) bool { return p.From <= q.To && q.From <= p.To })
	})
}

// portsWithin says whether every port of a is one of b's.
func portsWithin(a, b policy.NetParts) bool {
	return !slices.ContainsFunc(a.Ports, func(p policy.PortRun) bool {
		return !slices.ContainsFunc(b.Ports, func(q policy.PortRun) bool { return q.From <= p.From && p.To <= q.To })
	})
}

func kubernetesPorts(n policy.NetParts) yamlList {
	kind := "TCP"
	if n.UDP {
		kind = "UDP"
	}
	out := yamlList{}
	for _, p := range n.Ports {
		port := yamlMap{{"protocol", kind}, {"port", p.From}}
		if p.To > p.From {
			port = append(port, yamlPair{"endPort", p.To})
		}
		out = append(out, port)
	}
	return out
}
