package seccomp

import (
	"strings"
	"testing"
)

func TestDecodeSockaddr(t *testing.T) {
	long := strings.Repeat("x", 108)
	for _, c := range []struct{ in, want, err string }{
		{"\x02\x00\x00\x50\x7f\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00", "127.0.0.1:80", ""},
		{"\x02\x00\x00\x50\x7f\x00\x00\x01", "", "too short"},
		{"\x0a\x00\x01\xbb\x00\x00\x00\x00" + "\x20\x01\x0d\xb8" + strings.Repeat("\x00", 11) + "\x01" + "\x00\x00\x00\x00", "[2001:db8::1]:443", ""},
		{"\x0a\x00\x01\xbb\x00\x00\x00\x00" + "\xfe\x80" + strings.Repeat("\x00", 13) + "\x01" + "\x03\x00\x00\x00", "[fe80::1%3]:443", ""},
		{"\x0a\x00\x01\xbb\x00\x00\x00\x00" + strings.Repeat("\x00", 10) + "\xff\xff\x7f\x00\x00\x01" + "\x00\x00\x00\x00", "[::ffff:127.0.0.1]:443", ""},
		{"\x0a\x00\x01\xbb\x00\x00\x00\x00" + strings.Repeat("\x00", 15) + "\x01", "[::1]:443", ""},
		{"\x0a\x00\x01\xbb\x00\x00\x00\x00" + strings.Repeat("\x00", 15), "", "too short"},
		{"\x01\x00/run/x\x00junk", "unix:/run/x", ""},
		{"\x01\x00rel", "unix:rel", ""},
		{"\x01\x00\x00a\x00b", "unix:@a\x00b", ""},
		{"\x01\x00\x00", "unix:@", ""},
		{"\x01\x00", "unix:", ""},
		{"\x01\x00" + long, "unix:" + long, ""},
		{"\x01\x00" + long + "x", "", "too long"},
		{"\x00\x00", "unspecified", ""},
		{"\x00\x00\x00\x50\x7f\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00", "unspecified", ""},
		{"\x10\x00" + strings.Repeat("\x00", 10), "", "family 16: not decoded"},
		{"\x02", "", "too short"},
		{"", "", "too short"},
		{strings.Repeat("\x00", 129), "", "too long"},
	} {
		got, err := DecodeSockaddr([]byte(c.in))
		switch {
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%q: error %v, want %q", c.in, err, c.err)
			}
		case err != nil || got.String() != c.want:
			t.Errorf("%q: %v (%v), want %v", c.in, got, err, c.want)
		}
	}
}

func FuzzDecodeSockaddr(f *testing.F) {
	f.Add([]byte("\x02\x00\x00\x50\x7f\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00"))
	f.Add([]byte("\x01\x00\x00abc"))
	f.Add([]byte("\x0a\x00\x01\xbb\x00\x00\x00\x00\xfe\x80\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x03\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := DecodeSockaddr(b)
		if err != nil {
			if s != (Sockaddr{}) {
				t.Fatalf("%x: an error and %v", b, s)
			}
			return
		}
		switch inet := s.Family == FamilyInet || s.Family == FamilyInet6; {
		case inet != s.Addr.IsValid(), s.Family != FamilyUnix && (s.Path != "" || s.Abstract):
			t.Fatalf("%x: fields of another family in %+v", b, s)
		case !s.Abstract && strings.Contains(s.Path, "\x00"):
			t.Fatalf("%x: NUL in the path %q", b, s.Path)
		}
	})
}
