// Package landlock restricts what a process tree may do with files, ports and neighbours, in the kernel's own words
// (landlock(7)).
//
// A [Ruleset] is data. [Ruleset.Fit] cuts it down to what a kernel knows and says in words what is lost; [Create] turns
// the fitted ruleset into a descriptor; whoever is to be restricted adds rules of its own and calls
// landlock_restrict_self(2).
//
//	rs := landlock.Everything()                 // every file right and every scope is refused …
//	rs.Paths = []landlock.PathRule{             // … but these
//		{Path: "/usr/lib", Access: landlock.ReadTree},
//		{Path: "/etc/hosts", Access: landlock.ReadFile, File: true},
//	}
//	rs, lost := rs.Fit(landlock.Probe())
//	for _, l := range lost {
//		fmt.Println(l)                      // "connecting to unix sockets by path is not refused: needs Linux 7.1 (Landlock ABI 9)"
//	}
//	fd, err := landlock.Create(rs)
//
// Whether TCP is handled is the caller's choice: a box with an empty network namespace must not handle it (servers
// inside the box bind and connect on its loopback), a box in the host's network denies it with [Ruleset.DenyNet], and one whose broker connects and binds for it with [Ruleset.DenyTCP].
//
// What it does not do. It never restricts the calling process. It is never best effort: a ruleset that asks for more
// than the kernel knows is an error. Landlock itself does not govern stat(2), access(2), readlink(2), chdir(2),
// chmod(2), chown(2), setxattr(2), utime(2), flock(2): existence and metadata stay visible. Its network rights cover
// TCP and, since ABI 10, UDP, and leave ways around on Linux 6.18: MPTCP and SCTP sockets, sendto(2) and sendmsg(2) with
// MSG_FASTOPEN, the implicit bind of listen(2), raw and packet sockets. Where Landlock is the network's only wall, a
// seccomp filter has to refuse those. The signal scope can be gone around by fcntl(2) F_SETOWN with F_SETSIG to the
// process group of a process outside, where that group can be named (no process namespace of its own). A rule covers what
// lies beneath its object in the object's own file system: a file bound alone into another place needs a rule of its own
// there.
package landlock
