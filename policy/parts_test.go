package policy

import (
	"net/netip"
	"reflect"
	"testing"
)

func TestNetParts(t *testing.T) {
	for object, want := range map[string]NetParts{
		"pypi.org:443":           {Name: "pypi.org", Ports: []PortRun{{443, 443}}},
		"*.Example.org:80,443":   {Below: "example.org", Ports: []PortRun{{80, 80}, {443, 443}}},
		"udp://10.0.0.0/8:53":    {UDP: true, Prefix: netip.MustParsePrefix("10.0.0.0/8"), Ports: []PortRun{{53, 53}}},
		"[2001:db8::1]:5-9,7-12": {Prefix: netip.MustParsePrefix("2001:db8::1/128"), Ports: []PortRun{{5, 12}}},
		"*:*":                    {Any: true, Ports: []PortRun{EveryPort}},
		"127.0.0.1:0":            {Prefix: netip.MustParsePrefix("127.0.0.1/32"), Ports: []PortRun{{0, 0}}},
		"unix:/run/x":            {Unix: "/run/x"},
	} {
		got, err := Net(object)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v; want %+v", object, got, err, want)
		}
	}
	if _, err := Net("pypi.org"); err == nil {
		t.Error("an address without a port was taken")
	}
}

// TestTextPartsKeepValuesOut: no part holds the value of a variable.
func TestTextPartsKeepValuesOut(t *testing.T) {
	m := Macros{Project: "/p", Getenv: func(string) (string, bool) { return "SECRET", true }}
	got, err := TextParts("a$${x${TOKEN}${project}/${CACHE:-${project}/c}${site:-none}", m)
	want := []TextPart{{Text: "a${x"}, {Name: "TOKEN"}, {Text: "/p"}, {Text: "/"}, {Name: "CACHE", Default: []TextPart{{Text: "/p"}, {Text: "/c"}}}, {Text: "none"}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestPublicNetworksAgree: an address is in the networks, and not in what is taken out, exactly where it is public.
func TestPublicNetworksAgree(t *testing.T) {
	networks, except := PublicNetworks()
	in := func(list []netip.Prefix, a netip.Addr) bool {
		for _, p := range list {
			if p.Contains(a) {
				return true
			}
		}
		return false
	}
	for _, p := range append(append([]netip.Prefix{netip.MustParsePrefix("8.8.8.8/32"), netip.MustParsePrefix("fd00::/8"), netip.MustParsePrefix("2a00::/16")}, networks...), except...) {
		for _, a := range []netip.Addr{p.Addr(), p.Addr().Next(), p.Addr().Prev()} {
			if a.IsValid() && (in(networks, a) && !in(except, a)) != Public(a) {
				t.Errorf("%v: public is %v", a, Public(a))
			}
		}
	}
}
