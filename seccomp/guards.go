package seccomp

// Kernel numbers that guards compare with; the same on amd64 and arm64 unless said.
const (
	cloneNew     = 0x02000000 | 0x00020000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000 // cgroup mnt uts ipc user pid net
	cloneNewTime = 0x00000080                                                                               // unshare only: in clone it is part of the exit signal

	afUnix, afInet, afInet6, afNetlink, afPacket  = 1, 2, 10, 16, 17
	sockStream, sockDgram, sockRaw, sockSeqpacket = 1, 2, 3, 5
	sockPacket                                    = 10
	sockTypeBits                                  = 0xf // the rest of the word is SOCK_CLOEXEC, SOCK_NONBLOCK
	msgFastopen                                   = 0x20000000
	solSocket, soPeerPIDFD                        = 1, 77

	oCreat, oTmpfile = 0o100, 0o20000000
	sIFMT            = 0o170000
	sIFCHR, sIFBLK   = 0o020000, 0o060000
	sISUID, sISGID   = 0o4000, 0o2000

	tiocsti, tioclinux, tiocsetd = 0x5412, 0x541c, 0x5423
	fiosetown, siocspgrp         = 0x8901, 0x8902
	fSetown, fSetsig, fSetownEx  = 8, 10, 15

	addrNoRandomize = 0x0040000
	newListener     = 1 << 3 // SECCOMP_FILTER_FLAG_NEW_LISTENER
	minusOne        = 0xffffffff
)

// guards returns the rules on arguments of calls in base, by call, each list ending in a rule that always answers.
func guards(o Options) map[string][]Call {
	g := map[string][]Call{}
	add := func(name string, do Action, why string, when ...Cond) {
		g[name] = append(g[name], Call{Name: name, When: when, Do: do, Why: why})
	}
	const other = "any other argument"

	if o.NoteFD < 0 {
		add("write", Notify(EBADF), "a note of the Python shim", is(0, uint32(o.NoteFD)))
	}
	add("write", Allow, other)

	add("clone", Allow, "makes no namespace", lacks(0, cloneNew))
	add("clone", Notify(EPERM), "makes a namespace, and with it capabilities")
	add("unshare", Allow, "makes no namespace", lacks(0, cloneNew|cloneNewTime))
	add("unshare", Notify(EPERM), "makes a namespace, and with it capabilities")

	for _, p := range []uint32{0, minusOne, addrNoRandomize} {
		add("personality", Allow, "the usual execution domain, or a question", is(0, p))
	}
	add("personality", Notify(EPERM), "another execution domain weakens memory protection")

	add("ioctl", Notify(EPERM), "types into the terminal on the user's behalf", is(1, tiocsti))
	add("ioctl", Notify(EPERM), "pastes into the console on the user's behalf", is(1, tioclinux))
	add("ioctl", Notify(EPERM), "loads a line discipline into the kernel", is(1, tiocsetd))

	setID := "makes a set-user-ID or set-group-ID file, which acts outside the box"
	for name, arg := range map[string]int{"chmod": 1, "fchmod": 1, "fchmodat": 2, "fchmodat2": 2, "creat": 1} {
		add(name, Notify(EPERM), setID, has(arg, sISUID))
		add(name, Notify(EPERM), setID, has(arg, sISGID))
		add(name, Allow, other)
	}
	for name, flags := range map[string]int{"open": 1, "openat": 2} {
		for _, creates := range []uint32{oCreat, oTmpfile} {
			for _, id := range []uint32{sISUID, sISGID} {
				add(name, Notify(EPERM), setID, has(flags, creates), has(flags+1, id))
			}
		}
		add(name, Allow, other)
	}
	for name, mode := range map[string]int{"mknod": 1, "mknodat": 2} {
		add(name, Notify(EPERM), "makes a device node", Cond{mode, sIFMT, sIFCHR})
		add(name, Notify(EPERM), "makes a device node", Cond{mode, sIFMT, sIFBLK})
		add(name, Notify(EPERM), setID, has(mode, sISUID))
		add(name, Notify(EPERM), setID, has(mode, sISGID))
		add(name, Allow, "a FIFO, a socket or a plain file")
	}

	for _, name := range []string{"socket", "socketpair"} {
		for _, t := range []uint64{sockStream, sockSeqpacket} {
			add(name, Allow, "unix sockets that are connected before they send", is(0, afUnix), kind(t))
		}
		// SOCK_RAW is another word for the same.
		add(name, Notify(EACCES), "a unix datagram goes to any path that stands in memory, past connect", is(0, afUnix))
	}
	add("socketpair", Fail(EAFNOSUPPORT), "no other family makes pairs worth having")
	// The connect was psb's, so a server would be handed the process that must not be reached. Before Linux 6.5 every kernel says this.
	add("getsockopt", Fail(ENOPROTOOPT), "a handle on the process that connected", is(1, solSocket), is(2, soPeerPIDFD))
	add("getsockopt", Allow, other)
	for name, flags := range map[string]int{"sendto": 3, "sendmsg": 2, "sendmmsg": 3} {
		// Plain: what a kernel with fast open switched off answers, and callers fall back to connect.
		add(name, Fail(EOPNOTSUPP), "MSG_FASTOPEN connects without connect", has(flags, msgFastopen))
		switch {
		case o.Broker && name == "sendto":
			add(name, Allow, "to the peer already connected", null(4))
			add(name, Notify(EACCES), "the broker sees where it goes")
		case o.Datagrams:
			add(name, Notify(EACCES), "the broker sees where it goes")
		default:
			add(name, Allow, other)
		}
	}

	// A listener of its own would let a program answer "continue" before psb's TRACE action is looked at (notify beats trace), so
	// learning could be walked around. The answer is the kernel's own where a listener exists already.
	add("seccomp", Fail(EBUSY), "a second listener would outrank the tracer", has(1, newListener))
	add("seccomp", Allow, "a filter that can only take away, or a question")

	for _, name := range []string{"move_pages", "migrate_pages"} {
		add(name, Allow, "own pages", is(0, 0))
		add(name, Fail(EPERM), "pages of another process")
	}

	add("connect", Notify(EACCES), "the supervisor looks at the address and connects")
	if o.Broker {
		for _, cmd := range interfaceQuestions() {
			add("ioctl", Fail(EPERM), "tells of the interfaces of the network a socket belongs to, which may be the host's", is(1, cmd))
		}
		add("listen", Notify(EACCES), "the broker looks at whose network it is, and listens")
		add("bind", Notify(EACCES), "the broker looks at whose network it is, and binds")
	}

	// A process group reaches outside the pid namespace, where the box keeps psb's for job control.
	add("setpriority", Allow, "one process of its own", is(0, 0))
	add("setpriority", Fail(EPERM), "a group or user reaches processes outside")
	add("ioprio_set", Allow, "one process of its own", is(0, 1))
	add("ioprio_set", Fail(EPERM), "a group or user reaches processes outside")

	idGuards(o, add)
	socketGuards(o, add)
	signalGuards(o, add)
	add("ioctl", Allow, other)
	if o.Lite {
		liteGuards(o.Broker, add)
	}
	return g
}

// interfaceQuestions are requests of netdevice(7) that tell addresses and states; netlink tells those of the box's own network.
func interfaceQuestions() []uint32 {
	const siocgifconf, siocgifflags, siocgifaddr, siocgifdstaddr, siocgifbrdaddr, siocgifnetmask = 0x8912, 0x8913, 0x8915, 0x8917, 0x8919, 0x891b
	const siocgifmetric, siocgifmtu, siocgifhwaddr, siocethtool, siocgarp, siocgifmap = 0x891d, 0x8921, 0x8927, 0x8946, 0x8954, 0x8970
	return []uint32{siocgifconf, siocgifflags, siocgifaddr, siocgifdstaddr, siocgifbrdaddr, siocgifnetmask, siocgifmetric, siocgifmtu, siocgifhwaddr,
		siocethtool, siocgarp, siocgifmap}
}

// idGuards: a process without capabilities may become only what it is. The kernel says so with EPERM, but of an id that has no place in
// the user namespace it says EINVAL first, which programs do not expect.
func idGuards(o Options, add func(string, Action, string, ...Cond)) {
	if o.IDs == nil {
		return
	}
	for _, c := range []struct {
		name string
		args int
		own  uint32
	}{{"setuid", 1, o.IDs.UID}, {"setgid", 1, o.IDs.GID}, {"setreuid", 2, o.IDs.UID}, {"setregid", 2, o.IDs.GID}, {"setresuid", 3, o.IDs.UID}, {"setresgid", 3, o.IDs.GID}} {
		for choice := range 1 << c.args {
			var when []Cond
			for arg := range c.args {
				id := c.own
				if choice>>arg&1 != 0 {
					id = minusOne
				}
				when = append(when, is(arg, id))
			}
			add(c.name, Allow, "its own ids", when...)
		}
		add(c.name, Fail(EPERM), "ids of somebody else")
	}
}

// kind compares the type of a socket.
func kind(t uint64) Cond { return Cond{Arg: 1, Mask: sockTypeBits, Value: t} }

// socketGuards: which sockets exist at all; unix ones are judged with their pairs.
func socketGuards(o Options, add func(string, Action, string, ...Cond)) {
	add("socket", Allow, "lists interfaces and addresses; getaddrinfo needs it", is(0, afNetlink), is(2, 0))
	add("socket", Fail(EAFNOSUPPORT), "a netlink family that programs only probe for", is(0, afNetlink))
	for _, family := range []uint32{afInet, afInet6} {
		add("socket", Notify(EPERM), "raw packets", is(0, family), kind(sockRaw))
		add("socket", Notify(EPERM), "raw packets", is(0, family), kind(sockPacket))
		if o.Lite {
			// Without a network namespace only Landlock stands before the network, and it knows TCP alone, from ABI 4.
			if o.LandlockABI >= 4 {
				for _, proto := range []uint32{0, 6} {
					add("socket", Allow, "TCP, which Landlock judges", is(0, family), kind(sockStream), is(2, proto))
				}
			}
			add("socket", Notify(EACCES), "a socket into the host's network that nothing else holds", is(0, family))
			continue
		}
		for _, proto := range []uint32{0, 6, 17, 1, 58} {
			add("socket", Allow, "TCP, UDP and echo inside the box's network", is(0, family), is(2, proto))
		}
		add("socket", Fail(EPROTONOSUPPORT), "a protocol callers fall back from (multipath, SCTP)", is(0, family))
	}
	add("socket", Notify(EPERM), "raw packets", is(0, afPacket))
	add("socket", Notify(EAFNOSUPPORT), "a family that knows no namespace or reaches the machine itself")
}

// signalGuards: below Landlock ABI 6 no scope holds signals in.
func signalGuards(o Options, add func(string, Action, string, ...Cond)) {
	if o.LandlockABI >= 6 {
		return
	}
	if !o.Lite {
		add("kill", Notify(EPERM), "the process group reaches outside the pid namespace", is(0, 0))
		add("kill", Allow, "a process of the box")
		return
	}
	// The supervisor knows the box's processes, a filter does not.
	for _, name := range []string{"kill", "tkill", "tgkill", "pidfd_send_signal", "rt_sigqueueinfo", "rt_tgsigqueueinfo"} {
		add(name, Notify(EPERM), "may signal a process outside the box")
	}
	for _, cmd := range []uint32{fSetown, fSetsig, fSetownEx} {
		add("fcntl", Notify(EPERM), "sends a signal of choice to a process of choice", is(1, cmd))
	}
	add("fcntl", Allow, "any other argument")
	for _, cmd := range []uint32{fiosetown, siocspgrp} {
		add("ioctl", Notify(EPERM), "sends a signal to a process of choice", is(1, cmd))
	}
}

// liteGuards: what shared ipc and pid namespaces leave open whatever Landlock's ABI.
func liteGuards(broker bool, add func(string, Action, string, ...Cond)) {
	add("prlimit64", Allow, "own limits", is(0, 0))
	add("prlimit64", Allow, "a question", null(2))
	add("prlimit64", Notify(EPERM), "limits another process, a CPU limit of 0 kills it")
	// Landlock judges bind but not the port that listen picks for an unbound socket.
	if !broker {
		add("listen", Notify(EACCES), "may open a port of the host")
	}
	group{"", `shmget shmat shmctl semget semop semtimedop semctl msgget msgsnd msgrcv msgctl mq_open mq_unlink`}.each(func(name string) {
		add(name, Notify(EPERM), "objects shared with the host's other programs")
	})
}
