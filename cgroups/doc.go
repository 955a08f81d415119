// Package cgroups holds a whole process tree inside limits of memory, swap, processes and processor time, tells
// afterwards what the tree used and what it was refused, and kills the tree.
//
// It knows cgroup v2, v1, and hosts that have both (cgroups(7)).
//
//	host := cgroups.Probe()
//	limits, lost := cgroups.Limits{Memory: 512 << 20, PIDs: 64, CPUs: 1.5}.Fit(host)
//	for _, l := range lost {
//		fmt.Println(l) // "limits.pids: the number of processes is not limited: needs …"
//	}
//	group, err := cgroups.Create(host, cgroups.Name(pid, start, 0), limits)
//	// the keeper's child comes in by group.JoinFiles() before it runs anything
//	usage, err := group.Usage()
//	err = group.Kill()
//	err = group.Remove()
//
// Where groups are made. v1: below psb's own group in each hierarchy. v2 forbids processes in a group that hands
// controllers to its children (the root is exempt), so the place is one of, in this order: psb's own group when it is the
// root; its parent, when psb may write there and the controllers can be handed down; its own group after psb, alone in it,
// has moved itself into a leaf. A [Controller] names the place as a folder, so another way to get one (a scope asked from
// the user's systemd over D-Bus) is another [Controller.Dir] and nothing else. That way is not in this build: an ordinary
// user without a delegated group is told how to get one.
//
// What it does not do. It does not limit input and output, devices or processor sets. It never creates a group outside
// those places, never mounts anything, and never moves a process other than psb itself.
package cgroups
