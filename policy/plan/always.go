package plan

import (
	"psb/namespaces"
	"psb/policy"
)

var alwaysThere = policy.Origin{From: "always there"}

// made is a place psb fills itself.
func (ps places) made(p string, rights Rights, why string, op namespaces.Op) *Place {
	op.Target = p
	pl := ps.at(p)
	pl.Made, pl.Rights, pl.Why, pl.Origins = &op, pl.Rights|rights, why, []policy.Origin{alwaysThere}
	return pl
}

// sizes of the private spaces, in bytes; `[limits] disk` sets the first two together.
const (
	tmpSize = 1 << 30
	shmSize = 512 << 20
)

// privateSpaces are /tmp, /dev, /proc and psb's own folder: the same in every mode.
func (ps places) privateSpaces(look Look, disk uint64) {
	tmp, shm := uint64(tmpSize), uint64(shmSize)
	if disk != 0 {
		tmp, shm = disk, disk
	}
	ps.made("/tmp", Read|Write|List|Exec, "private temporary space", namespaces.Op{Kind: namespaces.OpTmpfs, Mode: 0o1777, Size: tmp})
	ps.made("/dev", List, "private devices", namespaces.Op{Kind: namespaces.OpTmpfs, Mode: 0o755, Size: 64 << 10, NoExec: true})
	ps.made("/dev/shm", Read|Write|List, "private shared memory", namespaces.Op{Kind: namespaces.OpTmpfs, Mode: 0o1777, Size: shm, NoExec: true})
	ps.made("/dev/pts", Read|Write|List|UseDevice, "terminals of its own", namespaces.Op{Kind: namespaces.OpDevpts})
	ps.made("/dev/mqueue", Read|Write|List, "message queues of its own", namespaces.Op{Kind: namespaces.OpMqueue})
	ps.made("/proc", Read|Write|List, "its own processes", namespaces.Op{Kind: namespaces.OpProc})
	for _, n := range []string{"kcore", "keys", "key-users", "timer_list", "sched_debug", "kallsyms", "kmsg", "latency_stats", "iomem", "ioports", "vmallocinfo", "slabinfo"} {
		if look.Resolve("/proc/"+n).Kind != Absent {
			ps.made("/proc/"+n, 0, "tells of the machine", namespaces.Op{Kind: namespaces.OpBindIn, Source: maskFile, ReadOnly: true, Optional: true})
		}
	}
	for _, n := range []string{"null", "zero", "full", "random", "urandom", "tty"} {
		o := look.Resolve("/dev/" + n)
		if o.Kind == Device {
			ps.show(o, UseDevice, alwaysThere, "")
		}
	}
	for at, text := range map[string]string{"/dev/fd": "/proc/self/fd", "/dev/stdin": "/proc/self/fd/0", "/dev/stdout": "/proc/self/fd/1",
		"/dev/stderr": "/proc/self/fd/2", "/dev/ptmx": "pts/ptmx"} {
		ps.at(at).Link = text
	}
	if o := look.Resolve("/sys/devices/system/cpu"); o.Kind == Dir {
		ps.show(o, Read, alwaysThere, "processors")
	}
	ps.made(OwnDir, List, "psb's own", namespaces.Op{Kind: namespaces.OpDir, Mode: 0o755})
	ps.made(maskFile, 0, "what hidden files show", namespaces.Op{Kind: namespaces.OpFile, Mode: 0})
	ps.made(maskDir, 0, "what hidden folders show", namespaces.Op{Kind: namespaces.OpDir, Mode: 0})
}

// ownSpaces are folders that only this box has.
func (ps places) ownSpaces(list []Space, disk uint64) {
	for _, s := range list {
		if s.Part {
			ps.made(s.Path, Read|Write|List|Exec, "folder of this run", namespaces.Op{Kind: namespaces.OpDir, Mode: 0o755})
			continue
		}
		if s.Size == 0 {
			s.Size = disk
		}
		ps.made(s.Path, Read|Write|List|Exec, "private space of this run", namespaces.Op{Kind: namespaces.OpTmpfs, Mode: 0o1777, Size: s.Size})
	}
}

// Identity is who the program is inside.
type Identity struct {
	UID, GID    uint32
	User, Group string
	Home, Shell string
}

// hostSpaces is what a box without namespaces sees of the host's own: devices without memory, its processes' files, account names.
func (c *compiler) hostSpaces() {
	for _, n := range []string{"null", "zero", "full", "random", "urandom", "tty"} {
		if o := c.look.Resolve("/dev/" + n); o.Kind == Device {
			c.places.show(o, UseDevice, alwaysThere, "")
		}
	}
	for _, n := range []string{"/proc", "/sys/devices/system/cpu", "/etc/passwd", "/etc/group", "/etc/hosts", "/etc/nsswitch.conf", "/etc/host.conf", "/etc/resolv.conf", "/etc/hostname"} {
		c.showHost(n, Read, "the host's own")
	}
}
