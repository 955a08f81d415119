package export

import (
	"math/rand/v2"
	"testing"

	"psb/policy/plan"
	"psb/seccomp"
)

func filter(arch seccomp.Arch) seccomp.Filter {
	p := &plan.Plan{Identity: plan.Identity{UID: 1000, GID: 1000}, Syscalls: map[string]bool{"memfd_secret": true, "fork": false}}
	return seccomp.Enforce(Options(arch, p))
}

// arguments are those that some rule speaks of, each a bit off, and random ones.
func arguments(rules []seccomp.Call, r *rand.Rand) [6]uint64 {
	var args [6]uint64
	for i := range args {
		args[i] = r.Uint64() >> (r.IntN(64))
	}
	for _, c := range rules {
		if r.IntN(3) == 0 {
			continue
		}
		for _, w := range c.When {
			if r.IntN(4) > 0 {
				args[w.Arg] = args[w.Arg]&^w.Mask | w.Value
			}
			if r.IntN(8) == 0 {
				args[w.Arg] ^= 1 << r.IntN(64)
			}
		}
	}
	return args
}

func rulesOf(f seccomp.Filter, name string) (rules []seccomp.Call) {
	for _, c := range f.Calls {
		if c.Name == name {
			rules = append(rules, c)
		}
	}
	return rules
}

// TestAnswersAgree: a call is allowed by the sets, which no tool tries in an order, exactly where psb's ordered rules allow it.
func TestAnswersAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, arch := range []seccomp.Arch{seccomp.AMD64, seccomp.ARM64} {
		for _, f := range []seccomp.Filter{filter(arch), connecting(filter(arch))} {
			allowed, refused := 0, 0
			for _, a := range answers(f) {
				own := rulesOf(f, a.name)
				alone := seccomp.Filter{Default: f.Default, Calls: own}
				for range 1000 {
					args := arguments(own, r)
					want, _ := alone.Decide(a.name, args)
					n := 0
					for _, c := range a.allowed {
						if c.holds(args) {
							n++
						}
					}
					if got := a.all || n > 0; got != (want == seccomp.Allow) {
						t.Fatalf("%s%#x: %v, and psb says %v", a.name, args, got, want)
					}
					if n > 1 {
						t.Fatalf("%s%#x: %d sets hold it", a.name, args, n)
					}
					if want == seccomp.Allow {
						allowed++
					} else {
						refused++
					}
				}
			}
			if allowed < 1000 || refused < 1000 {
				t.Errorf("%d allowed and %d refused: nothing was tried", allowed, refused)
			}
		}
	}
}

func (c cube) holds(args [6]uint64) bool {
	for i, a := range c {
		if args[i]&a.mask != a.value {
			return false
		}
	}
	return true
}

// TestProfileIsExact: read as a runtime reads it (rules of one call have no order, an argument stands once in a rule, what no rule
// names gets the default), the profile allows what the filter allows, and a call that is refused whole keeps its errno.
func TestProfileIsExact(t *testing.T) {
	f := filter(seccomp.AMD64)
	p := seccompProfile(f)
	if p.DefaultAction != "SCMP_ACT_ERRNO" || p.DefaultErrnoRet != uint(seccomp.ENOSYS) || len(p.Architectures) != 1 || p.Architectures[0] != "SCMP_ARCH_X86_64" {
		t.Errorf("%+v", p)
	}
	rules := map[string][]ociCall{}
	for _, c := range p.Syscalls {
		for _, n := range c.Names {
			rules[n] = append(rules[n], c)
		}
		seen := map[uint]bool{}
		for _, a := range c.Args {
			if seen[a.Index] || a.Op != ociMaskedEqual || a.ValueTwo&^a.Value != 0 {
				t.Errorf("%v: %+v", c.Names, c.Args)
			}
			seen[a.Index] = true
		}
	}
	for name, list := range rules {
		for _, c := range list {
			if c.Action != list[0].Action || len(list) > 1 && len(c.Args) == 0 {
				t.Errorf("%s has rules that depend on an order", name)
			}
		}
	}
	r := rand.New(rand.NewPCG(3, 4))
	for _, name := range seccomp.Names() {
		own := rulesOf(f, name)
		alone := seccomp.Filter{Default: f.Default, Calls: own}
		for range 500 {
			args := arguments(own, r)
			want, _ := alone.Decide(name, args)
			got := seccomp.Fail(seccomp.Errno(p.DefaultErrnoRet))
			for _, c := range rules[name] {
				if c.holds(args) {
					if got = seccomp.Allow; c.Action == "SCMP_ACT_ERRNO" {
						got = seccomp.Fail(seccomp.Errno(*c.ErrnoRet))
					}
				}
			}
			if (got == seccomp.Allow) != (want == seccomp.Allow) || len(rules[name]) == 1 && rules[name][0].Args == nil && got != want {
				t.Fatalf("%s%#x: %v, and psb says %v", name, args, got, want)
			}
		}
	}
	for name, errno := range map[string]seccomp.Errno{"connect": seccomp.EACCES, "mount": seccomp.EPERM, "clone3": seccomp.ENOSYS, "fork": seccomp.EPERM} {
		if got, _ := f.Decide(name, [6]uint64{}); got != seccomp.Fail(errno) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func (c ociCall) holds(args [6]uint64) bool {
	for _, a := range c.Args {
		if args[a.Index]&a.Value != a.ValueTwo {
			return false
		}
	}
	return true
}

// TestFilterAsksNobody: no supervisor stands behind an export.
func TestFilterAsksNobody(t *testing.T) {
	if filter(seccomp.AMD64).Notifies() {
		t.Error("the exported filter waits for an answer that never comes")
	}
}
