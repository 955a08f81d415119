package cgroups

import "maps"

// Version says which cgroup interfaces a host has mounted.
type Version string

// The versions of a host.
const (
	None   Version = "none"
	V1     Version = "v1"
	V2     Version = "v2"
	Hybrid Version = "hybrid" // controllers on v1, some or none on v2
)

// Support is what this host lets psb limit.
type Support struct {
	Version     Version
	Controllers map[string]Controller // by name: memory, pids, cpu and, on v1, cpuacct and freezer
	SwapLimit   bool                  // the memory controller can limit swap
	HasSwap     bool                  // the host has swap in use or to use
	// leave is psb's own v2 group when psb, alone in it, has to move into a leaf of it before groups can be made there.
	leave string
}

// Controller is where groups with one controller are made.
type Controller struct {
	Version  int    // 1, 2; 0 = not there
	Dir      string // the folder in which groups are made; "" when not usable
	Writable bool   // groups may be made in Dir by psb's effective user
	Reason   string // why not, in words
	Needs    string // what would change that
	enable   bool   // v2: Dir does not hand the controller down yet and has to be told to
}

// Lost is one limit that this host cannot hold.
type Lost struct {
	Name  string // stable, for naming the gap: "limits.memory"
	What  string // what is not limited
	Needs string // what would bring it
}

// String is one line, "name: what: needs …".
func (l Lost) String() string { return l.Name + ": " + l.What + ": needs " + l.Needs }

// Fit leaves out what s cannot hold and says what is lost by it, and how to get it.
func (l Limits) Fit(s Support) (Limits, []Lost) {
	var lost []Lost
	miss := func(name, what, controller string) {
		c := s.Controllers[controller]
		needs := c.Needs
		if needs == "" {
			needs = "a kernel and host with the " + controller + " controller"
		}
		if c.Reason != "" {
			needs += " (" + c.Reason + ")"
		}
		lost = append(lost, Lost{Name: "limits." + name, What: what, Needs: needs})
	}
	swapAsked := l.Memory != 0 && l.MemorySwap != NoLimit
	if l.Memory != 0 && !s.Controllers[memory].Writable {
		miss("memory", "the memory of the whole tree is not limited", memory)
		l.Memory, l.MemorySwap = 0, 0
	} else if swapAsked && !s.SwapLimit {
		// Without the file and without swap nothing can be swapped out: nothing is lost.
		if s.HasSwap {
			lost = append(lost, Lost{Name: "limits.memory_swap", What: "swap is not limited, so neither is memory and swap together",
				Needs: "the kernel boot option swapaccount=1"})
		}
		l.MemorySwap = NoLimit
	}
	if l.PIDs != 0 && !s.Controllers[pids].Writable {
		miss("pids", "the number of processes is not limited", pids)
		l.PIDs = 0
	}
	if l.CPUs != 0 && !s.Controllers[cpu].Writable {
		miss("cpus", "processor time is not shared out", cpu)
		l.CPUs = 0
	}
	return l, lost
}

// Usable tells whether a group can be made at all; without one the tree can be neither limited nor killed as a whole.
func (s Support) Usable() bool {
	for c := range maps.Values(s.Controllers) {
		if c.Writable {
			return true
		}
	}
	return false
}
