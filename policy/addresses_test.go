package policy

import (
	"net/netip"
	"testing"
)

func TestAddressKinds(t *testing.T) {
	const public, inward, metadata, neither = "public", "inward", "metadata", "neither" // metadata is inward, too
	for text, want := range map[string]string{
		"1.1.1.1": public, "9.255.255.255": public, "11.0.0.1": public, "100.63.255.255": public, "100.128.0.1": public, "172.15.0.1": public, "172.32.0.1": public,
		"198.17.255.255": public, "198.20.0.1": public, "223.255.255.255": public, "168.63.129.17": public, "2606:4700::1": public, "2a00:1450::1": public, "::ffff:1.1.1.1": public,
		"0.0.0.0": inward, "0.1.2.3": inward, "10.1.2.3": inward, "100.64.0.1": inward, "127.0.0.1": inward, "127.9.9.9": inward, "169.254.1.1": inward, "172.16.0.1": inward,
		"172.31.255.255": inward, "192.168.1.1": inward, "192.0.0.8": inward, "192.88.99.1": inward, "198.18.0.1": inward, "198.19.255.255": inward, "224.0.0.1": inward,
		"239.255.255.250": inward, "240.0.0.1": inward, "255.255.255.255": inward, "169.254.169.253": inward, "169.254.169.123": inward,
		"::": inward, "::1": inward, "fc00::1": inward, "fd12::1": inward, "fe80::1": inward, "fe80::1%eth0": inward, "fec0::1": inward, "ff02::1": inward, "ff0e::1": inward,
		"::ffff:10.0.0.1": inward, "::ffff:127.0.0.1": inward, "::127.0.0.1": inward, "::192.168.1.1": inward, "::ffff:0:10.0.0.1": inward, "64:ff9b::10.0.0.1": inward,
		"64:ff9b::127.0.0.1": inward, "64:ff9b:1::8.8.8.8": inward, "64:ff9b:1:ffff::1": inward, "2002:a00:1::": inward, "2002:7f00:1::1": inward, "2001::1": inward, "2001:0:808:808::": inward,
		"169.254.169.254": metadata, "169.254.170.2": metadata, "169.254.170.23": metadata, "168.63.129.16": metadata, "100.100.100.200": metadata, "192.0.0.192": metadata,
		"169.254.42.42": metadata, "169.254.0.23": metadata, "fd00:ec2::254": metadata, "fd00:ec2::23": metadata, "fd20:ce::254": metadata, "fd00:42::42": metadata,
		"fd00:c1::a9fe:a9fe": metadata, "fe80::a9fe:a9fe": metadata, "fe80::a9fe:a9fe%eth0": metadata, "::ffff:169.254.169.254": metadata, "::169.254.169.254": metadata,
		"::ffff:0:169.254.169.254": metadata, "64:ff9b::a9fe:a9fe": metadata, "64:ff9b::168.63.129.16": metadata, "64:ff9b:1::a9fe:a9fe": metadata, "64:ff9b:1:a9fe:a9:fe00::": metadata,
		"64:ff9b:1:a9:fe:a9fe::": metadata, "64:ff9b:1:0:a9:fea9:fe00:0": metadata, "2002:a9fe:a9fe::1": metadata, "2001:0:a9fe:a9fe::": metadata, "2001::5601:5601": metadata,
		"192.0.2.1": neither, "198.51.100.1": neither, "203.0.113.1": neither, "2001:db8::1": neither, "3fff::1": neither, "::8.8.8.8": neither, "64:ff9b::8.8.8.8": neither,
		"2002:808:808::1": neither, "4000::1": neither,
	} {
		addr := netip.MustParseAddr(text)
		got := neither
		switch {
		case Public(addr) && (Inward(addr) || Metadata(addr)):
			got = "public and inward"
		case Public(addr):
			got = public
		case Metadata(addr) && Inward(addr):
			got = metadata
		case Metadata(addr):
			got = "metadata and not inward"
		case Inward(addr):
			got = inward
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	if none := (netip.Addr{}); !Inward(none) || Metadata(none) || Public(none) {
		t.Error("no address")
	}
	for name, want := range map[string]bool{"metadata.google.internal": true, "Metadata.Google.Internal.": true, "metadata": true, "instance-data": true, "metadata.example.com": false, "pypi.org": false, "": false} {
		if MetadataName(name) != want {
			t.Errorf("MetadataName(%q) = %v", name, !want)
		}
	}
}

func FuzzAddressKinds(f *testing.F) {
	f.Add([]byte{127, 0, 0, 1})
	f.Add(netip.MustParseAddr("64:ff9b::a9fe:a9fe").AsSlice())
	f.Fuzz(func(t *testing.T, b []byte) {
		addr, ok := netip.AddrFromSlice(b)
		if !ok {
			return
		}
		if Public(addr) && Inward(addr) || Metadata(addr) && !Inward(addr) {
			t.Fatalf("%s: public %v, inward %v, metadata %v", addr, Public(addr), Inward(addr), Metadata(addr))
		}
		if addr.Is4() {
			mapped := netip.AddrFrom16(addr.As16())
			if Inward(mapped) != Inward(addr) || Metadata(mapped) != Metadata(addr) || Public(mapped) != Public(addr) {
				t.Fatalf("%s is judged otherwise as %s", addr, mapped)
			}
		}
	})
}
