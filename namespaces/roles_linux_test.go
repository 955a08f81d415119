package namespaces

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// insideRole is a program in a box.
func insideRole(role string) int {
	switch role {
	case "mkdir": // answers what the kernel says to mkdirat(2)
		err := unix.Mkdirat(unix.AT_FDCWD, "/tmp/made", 0o755)
		fmt.Println(err)
	case "readonly": // which of the folders named is on a read-only mount
		for _, p := range os.Args[2:] {
			var st unix.Statfs_t
			if err := unix.Statfs(p, &st); err != nil {
				fmt.Println(p, err)
				continue
			}
			fmt.Println(p, st.Flags&unix.ST_RDONLY != 0)
		}
	case "loopback":
		for _, at := range []string{"127.0.0.1:0", "[::1]:0"} {
			l, err := net.Listen("tcp", at)
			if err != nil {
				fmt.Println(err)
				continue
			}
			go func() {
				if c, err := l.Accept(); err == nil {
					fmt.Fprint(c, "through\n")
					c.Close()
				}
			}()
			c, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				fmt.Println(err)
				continue
			}
			line, _ := bufio.NewReader(c).ReadString('\n')
			fmt.Print(line)
		}
	case "terminal": // is this in the foreground of the terminal on 0, as a shell would ask?
		foreground, err := unix.IoctlGetInt(0, unix.TIOCGPGRP)
		fmt.Println(foreground == unix.Getpgrp(), err)
		var b [1]byte
		_, _ = os.Stdin.Read(b[:]) // ended by the terminal's interrupt
		return 9
	}
	return 0
}

// outsideRole is a psb that a test starts in some state, or kills. It obeys the variables the test sets.
func outsideRole(role string) int {
	mode, point, _ := strings.Cut(role, " ")
	fail := func(err error) int { fmt.Fprintln(os.Stderr, role, err); return 1 }
	stdio := [3]*os.File{os.Stdin, os.Stdout, os.Stderr}
	switch mode {
	case "hello":
		fmt.Println("hello from Go")
		return 0
	case "box": // runs the script in BOX_TEST_SCRIPT with its own stdio and dispositions
		s := shellBox(os.Getenv("BOX_TEST_SCRIPT"))
		s.Ignored, s.Blocked = IgnoredAtStart(), BlockedAtStart()
		if dir := os.Getenv("BOX_TEST_DIR"); dir != "" {
			s.Ops = append(s.Ops, Op{Kind: OpBind, Source: dir, Target: "/d"})
		}
		return toTheEnd(s, stdio)
	case "grep": // shows the program's own signal state
		s := baseBox("/usr/bin/grep", "-E", "^Sig(Blk|Ign):", "/proc/self/status")
		s.Ignored, s.Blocked = IgnoredAtStart(), BlockedAtStart()
		return toTheEnd(s, stdio)
	case "submount": // the script in a box that shows BOX_TEST_DIR at /d, read-only, with its sub-mount
		s := shellBox(os.Getenv("BOX_TEST_SCRIPT"))
		dir := os.Getenv("BOX_TEST_DIR")
		s.Ops = append(s.Ops, Op{Kind: OpBind, Source: dir, Target: "/d", ReadOnly: true, Recursive: point == "true"})
		if point != "true" {
			s.Ops = append(s.Ops, Op{Kind: OpBind, Source: dir + "/sub", Target: "/d/sub"})
		}
		return toTheEnd(s, stdio)
	case "terminal":
		signal.Ignore(syscall.SIGINT)
		s := baseBox("/self")
		self, err := os.Executable()
		if err != nil {
			return fail(err)
		}
		s.Argv = []string{inside, "terminal"}
		s.Ops = append(s.Ops, Op{Kind: OpBind, Source: self, Target: "/self", ReadOnly: true})
		return toTheEnd(s, stdio)
	case "jobs": // prints how the program was stopped and lets it go on
		box, err := Start(shellBox(os.Getenv("BOX_TEST_SCRIPT")), stdio)
		if err != nil {
			return fail(err)
		}
		if _, err := box.Ready(); err != nil {
			return fail(err)
		}
		if err := box.Release(); err != nil {
			return fail(err)
		}
		for j := range box.Jobs() {
			if j.Stopped {
				fmt.Println("stopped", j.Signal)
				box.Signal(syscall.SIGCONT, false)
			} else {
				fmt.Println("continued")
			}
		}
		exit, err := box.Wait()
		fmt.Println(exit.Status.ExitStatus(), err)
		return 0
	case "hold", "hold-lite": // keeps a box at a point until it is killed or the box is gone
		s := shellBox("setsid setsid sleep 1000 & setsid sleep 1000 & echo up; wait")
		if mode == "hold-lite" {
			lite(s)
		}
		if dir := os.Getenv("BOX_TEST_CGROUP"); dir != "" {
			s.CgroupProcs, s.CgroupDirs = []string{dir + "/cgroup.procs"}, []string{dir}
		}
		s.Await = point == "await"
		r, w, err := os.Pipe()
		if err != nil {
			return fail(err)
		}
		box, err := Start(s, [3]*os.File{os.Stdin, w, os.Stderr})
		if err != nil {
			return fail(err)
		}
		w.Close()
		if point != "started" && point != "await" {
			if _, err := box.Ready(); err != nil {
				return fail(err)
			}
		}
		if point == "running" {
			if err := box.Release(); err != nil {
				return fail(err)
			}
			if err := box.Started(); err != nil {
				return fail(err)
			}
			if line, err := bufio.NewReader(r).ReadString('\n'); line != "up\n" {
				return fail(fmt.Errorf("%q %v", line, err))
			}
		}
		fmt.Println(box.Keeper(), box.Program())
		_, err = box.Wait()
		fmt.Println(err)
		return 0
	}
	return fail(fmt.Errorf("unknown"))
}

func toTheEnd(s *Spec, stdio [3]*os.File) int {
	box, err := Start(s, stdio)
	if err == nil {
		if _, err = box.Ready(); err == nil {
			if err = box.Release(); err == nil {
				err = box.Started()
			}
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 125
	}
	exit, err := box.Wait()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 125
	}
	if exit.Status.Signaled() {
		return 128 + int(exit.Status.Signal())
	}
	return exit.Status.ExitStatus()
}
