package namespaces

import (
	"strings"
	"testing"
)

// A Spec that contradicts itself would act on the host, or mean something else inside: it is refused before anything starts.
func TestEncodeRefuses(t *testing.T) {
	for _, row := range []struct {
		change func(*Spec)
		want   string
	}{
		{func(s *Spec) { s.Unshare.Mount = false }, "acts without a mount namespace"},
		{func(s *Spec) { s.Unshare.UTS = false }, "a host name without a UTS namespace"},
		{func(s *Spec) { s.Unshare.Net = false }, "loopback without a network namespace"},
		{func(s *Spec) { s.Unshare.User, s.LateUser = false, true }, "a late user namespace without one"},
		{func(s *Spec) { s.Unshare.User = false }, "other ids inside than outside"},
		{func(s *Spec) { s.Listener = true }, "a listener without a filter"},
		{func(s *Spec) { s.Filter = make([]byte, 9) }, "a filter of 9 bytes"},
		{func(s *Spec) { s.Reaper = make([]byte, 8*4097) }, "a filter of 32776 bytes"},
		{func(s *Spec) { s.Ops[0].Target = "/a/../b" }, `target "/a/../b"`},
		{func(s *Spec) { s.Ops[0].Target = "/a//b" }, `target "/a//b"`},
		{func(s *Spec) { s.Ops[0].Target = "/a/" }, `target "/a/"`},
		{func(s *Spec) { s.Ops[0].Target = "a" }, `target "a"`},
		{func(s *Spec) { s.Ops[0].Target = "/" }, `target "/"`},
		{func(s *Spec) { s.Ops[0].IDMap = true }, "an id map"},
		{func(s *Spec) { s.Ops[0].Source = "/a\x00b" }, "holds a NUL"},
		{func(s *Spec) { s.Env = []string{"A=\x00"} }, "holds a NUL"},
	} {
		s := &Spec{Unshare: Set{User: true, Mount: true, Net: true, UTS: true}, Hostname: "h", Loopback: true, UID: 1, HostUID: 2,
			Ops: []Op{{Kind: OpBind, Source: "/usr", Target: "/usr"}}, Exec: "/x", Argv: []string{"x"}, Dir: "/"}
		if _, err := Encode(s); err != nil {
			t.Fatalf("unchanged: %v", err)
		}
		row.change(s)
		if _, err := Encode(s); err == nil || !strings.HasPrefix(err.Error(), "encode: ") || !strings.Contains(err.Error(), row.want) {
			t.Errorf("error %v, want %q", err, row.want)
		}
	}
}

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{`a "b" c`: `a "b" c`, "\x1b[2J\n": `\x1b[2J\n`, "\xff": `\xff`, "grün": "grün", `back\slash`: `back\\slash`} {
		if got := visible(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
