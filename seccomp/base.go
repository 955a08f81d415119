package seccomp

import "strings"

// group is a set of calls that share a reason.
type group struct {
	why   string
	names string
}

func (g group) each(yield func(name string)) {
	for _, n := range strings.Fields(g.names) {
		yield(n)
	}
}

// base holds the calls that every program gets: CPython 3.8 to 3.14 on glibc and musl, the native libraries people use and
// the small programs they start. A call is here when it cannot reach past the other walls; some are narrowed by arguments in
// guards.go. Names that an interface lacks (open on arm64) are left out when a filter is built.
var base = []group{
	{"reads, writes and places descriptors; what may be opened is Landlock's and the mounts' business",
		`read write readv writev pread64 pwrite64 preadv pwritev preadv2 pwritev2 lseek close close_range dup dup2 dup3 fcntl
		flock fsync fdatasync sync syncfs sync_file_range ftruncate fallocate fadvise64 readahead copy_file_range sendfile
		splice tee vmsplice pipe pipe2 ioctl select pselect6 poll ppoll epoll_create epoll_create1 epoll_ctl epoll_wait
		epoll_pwait epoll_pwait2 eventfd eventfd2 signalfd signalfd4 timerfd_create timerfd_settime timerfd_gettime
		memfd_create inotify_init inotify_init1 inotify_add_watch inotify_rm_watch cachestat`},
	{"opens, names and describes files inside the granted trees",
		`open openat creat stat fstat lstat newfstatat statx statfs fstatfs access faccessat faccessat2 readlink readlinkat
		getdents getdents64 getcwd chdir fchdir mkdir mkdirat rmdir unlink unlinkat rename renameat renameat2 link linkat
		symlink symlinkat mknod mknodat truncate chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat umask utime
		utimes futimesat utimensat getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr setxattr lsetxattr fsetxattr
		removexattr lremovexattr fremovexattr`},
	{"the process's own memory",
		`mmap munmap mremap mprotect pkey_mprotect pkey_alloc pkey_free brk madvise mincore msync mlock mlock2 munlock
		mlockall munlockall remap_file_pages mseal map_shadow_stack membarrier mbind get_mempolicy set_mempolicy
		set_mempolicy_home_node migrate_pages move_pages`},
	{"starts, ends and waits for processes and threads of the box",
		`execve execveat fork vfork clone exit exit_group wait4 waitid pidfd_open set_tid_address set_robust_list
		get_robust_list futex futex_waitv futex_wake futex_wait futex_requeue restart_syscall unshare`},
	{"restartable sequences: glibc 2.35 and later registers one in each new thread, it touches only that thread's memory, and " +
		"refusing it would cost sched_getcpu and every allocator that relies on it",
		`rseq rseq_slice_yield`},
	{"signals; the pid namespace and the Landlock scope hold them in",
		`kill tkill tgkill pidfd_send_signal rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigtimedwait
		rt_sigqueueinfo rt_tgsigqueueinfo rt_sigsuspend sigaltstack pause alarm getitimer setitimer`},
	{"clocks that are read, and timers",
		`time gettimeofday clock_gettime clock_getres clock_nanosleep nanosleep times timer_create timer_settime timer_gettime
		timer_getoverrun timer_delete`},
	{"who and where the process is",
		`getpid getppid gettid getuid geteuid getgid getegid getresuid getresgid getgroups getpgid getpgrp getsid getcpu
		uname sysinfo getrusage getrandom arch_prctl prctl personality capget`},
	{"changes of identity: the box has no capability and no_new_privs is set, so they can only step down",
		`setuid setgid setreuid setregid setresuid setresgid setfsuid setfsgid setgroups setpgid setsid capset`},
	{"own limits and scheduling; hard limits cannot be raised",
		`getrlimit setrlimit prlimit64 getpriority setpriority ioprio_get ioprio_set sched_yield sched_getaffinity
		sched_setaffinity sched_getparam sched_setparam sched_getscheduler sched_setscheduler sched_get_priority_max
		sched_get_priority_min sched_rr_get_interval sched_getattr sched_setattr`},
	{"sockets inside the box's network",
		`socket socketpair bind listen accept accept4 connect getsockname getpeername getsockopt setsockopt shutdown sendto
		recvfrom sendmsg recvmsg sendmmsg recvmmsg`},
	{"System V and POSIX queues, memory and semaphores of the box's ipc namespace",
		`shmget shmat shmdt shmctl semget semop semtimedop semctl msgget msgsnd msgrcv msgctl mq_open mq_unlink mq_timedsend
		mq_timedreceive mq_notify mq_getsetattr`},
	{"Linux aio on descriptors already open; databases use it",
		`io_setup io_destroy io_submit io_cancel io_getevents io_pgetevents`},
	{"a program may narrow itself further: browsers, ssh and file(1) do, and a second filter or ruleset can only take away",
		`seccomp landlock_create_ruleset landlock_add_rule landlock_restrict_self`},
}

// baseline holds the calls that learning never stops on: every CPython makes them by the thousand, and none opens, makes, changes,
// executes, connects, binds, kills or limits anything. Their guards (a device-like ioctl, a namespace flag of clone, the note
// written to an impossible descriptor) are stopped on all the same.
var baseline = []group{
	{"descriptors already open",
		`read write readv writev pread64 pwrite64 preadv pwritev lseek close close_range dup dup2 dup3 fcntl fstat fsync fdatasync
		ftruncate fadvise64 getdents getdents64 ioctl pipe pipe2 sendfile copy_file_range`},
	{"looks at what is there: no rule ever comes of one", `stat lstat newfstatat statx access faccessat faccessat2 readlink readlinkat
		statfs fstatfs getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr`},
	{"waiting", `select pselect6 poll ppoll epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2 eventfd2
		timerfd_create timerfd_settime`},
	{"own memory", `mmap munmap mremap mprotect brk madvise msync mincore membarrier`},
	{"threads and children", `futex set_tid_address set_robust_list rseq clone fork vfork wait4 waitid exit exit_group
		restart_syscall sched_yield sched_getaffinity getcpu`},
	{"own signals", `rt_sigaction rt_sigprocmask rt_sigreturn rt_sigsuspend rt_sigtimedwait sigaltstack`},
	{"clocks", `time gettimeofday clock_gettime clock_getres clock_nanosleep nanosleep times`},
	{"identity", `getpid getppid gettid getuid geteuid getgid getegid getpgrp uname sysinfo getrusage getrandom arch_prctl getcwd`},
	{"bytes over sockets that are already connected", `recvfrom recvmsg getsockname getpeername getsockopt setsockopt shutdown
		sendto socketpair`},
}
