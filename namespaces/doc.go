// Package namespaces starts a process in fresh user, mount, pid, net, ipc, uts and cgroup namespaces, held before it does anything, with a
// root folder built from acts given as data.
//
//	box, err := namespaces.Start(&spec, [3]*os.File{os.Stdin, os.Stdout, os.Stderr})
//	pid, err := box.Ready()      // the program exists and waits
//	err = box.Release()
//	err = box.Started()          // it runs, or the stage that failed
//	exit, err := box.Wait()
//
// The stages that run between psb and the program are C (stage2_linux.h draws them); they are this binary run again, taken over before the
// Go runtime starts. Whichever of psb, keeper and reaper is killed, the box ends.
//
// It does not decide what a box shows or grants (package policy/plan does), open sockets, or watch what the program does.
package namespaces
