// Package seccomp turns named kernel calls into a seccomp filter, says what such a filter answers, and receives the
// calls it hands to a supervisor.
//
//	f := seccomp.Enforce(seccomp.Options{Arch: seccomp.AMD64, NoteFD: fd, Listener: true, LandlockABI: 7})
//	prog, err := f.Build()                       // bytes for prctl(2)/seccomp(2)
//	act, err := prog.Simulate(uint32(f.Arch), nr, args)
//	err = seccomp.Supervise(ctx, listener, func(r *seccomp.Request) seccomp.Answer {
//		a, why := f.Decide(r.Name, r.Args)       // the same judge that was compiled
//		...
//	})
//
// The lists (Base, Floor, Baseline, the rest) and the rules on arguments are data with reasons; every condition is a
// masked compare, because the kernel cuts an int argument to 32 bits only after the filter has looked at 64.
//
// It does not install a box's filter (the C stage does, with the bytes made here), does not decide what a policy allows,
// does not inject descriptors, and makes no claim about calls whose meaning stands in memory: such calls are refused
// whole (clone3, openat2) or judged by something else (Landlock, the empty network namespace).
package seccomp
