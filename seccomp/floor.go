package seccomp

// refusal is a set of calls that no policy and no learning run opens.
type refusal struct {
	names string
	errno Errno
	quiet bool // a probe that ordinary programs make and survive: refused without a report
	why   string
}

// floor: refused always. A loud one is reported to the supervisor, because a program that calls it means it.
var floor = []refusal{
	{"ptrace process_vm_readv process_vm_writev pidfd_getfd kcmp", EPERM, false, "looks into or changes another process"},
	{"io_uring_setup", ENOSYS, false, "io_uring opens, connects and sends where no filter sees it"},
	{"io_uring_enter io_uring_register", ENOSYS, true, "means nothing without io_uring_setup, which is refused"},
	{"bpf perf_event_open userfaultfd", EPERM, false, "kernel machinery with a long record of ways out"},
	{"keyctl add_key request_key", EPERM, false, "kernel keyrings know no namespace: keys of the host's session are in reach"},
	{"mount umount2 pivot_root move_mount open_tree open_tree_attr fsopen fsconfig fsmount fspick mount_setattr", EPERM, false,
		"changes the file tree the box was given"},
	{"chroot", EPERM, false, "changes the root that the other walls were built on"},
	{"setns", EPERM, false, "enters another namespace"},
	{"open_by_handle_at", EPERM, false, "opens a file by number, past every path rule"},
	{"name_to_handle_at", EOPNOTSUPP, true, "the other half of open_by_handle_at; callers take it for a file system without handles"},
	{"fanotify_init", EPERM, false, "watches whole mounts"},
	{"fanotify_mark", EPERM, true, "means nothing without fanotify_init, which is refused"},
	{"kexec_load kexec_file_load reboot", EPERM, false, "replaces or stops the running kernel"},
	{"init_module finit_module delete_module create_module query_module get_kernel_syms", EPERM, false, "kernel modules"},
	{"swapon swapoff quotactl quotactl_fd acct", EPERM, false, "administers the host"},
	{"iopl ioperm modify_ldt", EPERM, false, "raw hardware ports and descriptor tables"},
	{"settimeofday clock_settime clock_adjtime adjtimex", EPERM, false, "sets the host's clock"},
	{"sethostname setdomainname", EPERM, false, "renames the host; the box keeps its name"},
	{"syslog", EPERM, false, "the kernel's log shows addresses and other programs"},
	{"vhangup", EPERM, false, "hangs up the terminal the box shares with the shell"},
	{"lookup_dcookie nfsservctl", ENOSYS, true, "withdrawn from Linux"},
	{"clone3", ENOSYS, true, "its flags stand in memory, where a filter cannot read them; every C library falls back to clone"},
	{"openat2", ENOSYS, true, "its mode stands in memory, so a set-user-ID file could be made with it; callers fall back to openat"},
}

// rest: known, not in base, not dangerous enough for the floor. They get the default answer (ENOSYS) and a policy may add
// them.
var rest = []group{
	{"withdrawn or never built", `_sysctl afs_syscall epoll_ctl_old epoll_wait_old getpmsg putpmsg security tuxcall uselib vserver
		set_thread_area get_thread_area sysfs ustat`},
	{"new and not yet used by what base serves; callers fall back", `statmount listmount listns lsm_get_self_attr lsm_set_self_attr
		lsm_list_modules setxattrat getxattrat listxattrat removexattrat file_getattr file_setattr memfd_secret
		process_madvise process_mrelease`},
	{"set by the kernel's own probes", `uretprobe uprobe`},
}
