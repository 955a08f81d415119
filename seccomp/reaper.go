package seccomp

// Reaper is the filter of pid 1 of the box once the program has been started: wait, forward signals, talk to psb, end.
//
// What a reaper never does and an intruder in it would want kills it, and with it the box. Any other call it does not need
// fails with ENOSYS instead: a newer C library's harmless call must not end a box.
func Reaper(a Arch) Filter {
	f := Filter{Arch: a, Default: Fail(ENOSYS)}
	add := func(do Action, why, names string, when ...Cond) {
		group{names: names}.each(func(name string) {
			f.Calls = append(f.Calls, Call{Name: name, When: when, Do: do, Why: why})
		})
	}
	add(Allow, "talks to psb", `read pread64 write readv writev sendmsg recvmsg sendto recvfrom poll ppoll close`)
	add(Allow, "reaps and forwards", `wait4 waitid kill tgkill rt_sigaction rt_sigprocmask rt_sigreturn rt_sigtimedwait
		rt_sigsuspend rt_sigpending signalfd4 restart_syscall getpid gettid getppid`)
	add(Allow, "ends", `exit exit_group`)
	add(Allow, "clocks", `clock_gettime clock_nanosleep nanosleep gettimeofday time sched_yield`)
	add(Kill, "makes code out of data", `mmap`, has(2, 4)) // PROT_EXEC
	add(Allow, "own memory", `mmap munmap brk futex madvise`)
	add(Kill, "a reaper starts nothing", `execve execveat fork vfork clone clone3`)
	for _, family := range []uint32{afInet, afInet6} {
		for _, t := range []uint64{sockStream, sockDgram} {
			add(Allow, "makes a socket of the box's empty network for psb", `socket`, is(0, family), kind(t), is(2, 0))
		}
	}
	add(Kill, "a reaper opens nothing", `open openat openat2 creat socket connect bind`)
	add(Kill, "a reaper's memory holds no new code", `mprotect pkey_mprotect`)
	for _, r := range floor {
		group{names: r.names}.each(func(name string) {
			if name != "clone3" && name != "openat2" {
				add(Kill, r.why, name)
			}
		})
	}
	return f
}
