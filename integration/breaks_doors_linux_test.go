package integration

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// door is a socket of the host that nobody meant the box to reach.
type door struct {
	name  string // what the box would have to say
	heard func() bool
}

// TestBreakSocketAtStdio: an IP socket or a unix datagram socket as stdin or stdout could be connected elsewhere, so it does not go in. A
// connected unix stream socket cannot, and does.
func TestBreakSocketAtStdio(t *testing.T) {
	besideOthers(t)
	for _, c := range []struct{ family, kind string }{{"inet", "stream"}, {"inet", "dgram"}, {"unix", "dgram"}, {"unix", "stream"}} {
		for fd, at := range []string{"stdin", "stdout"} {
			t.Run(c.family+" "+c.kind+"/"+at, func(t *testing.T) {
				for _, who := range people() {
					t.Run(who.name, func(t *testing.T) {
						for _, boxed := range []bool{false, true} {
							if boxed && controlOnly() {
								return
							}
							s := trial{scene: newScene(t, who), boxed: boxed}
							_, err := s.choose(t, "system", nil)
							ledger.Need(t, "python3", err)
							s.program(t, "sockets.py")
							s.rules(t, "")
							own, peer, other := s.sockets(t, c.family, c.kind)
							r := s.with(t, fd, own, s.argv(t, []string{"--policy", ".py-sandboxes"}, "sockets.py", fmt.Sprint(fd), c.family, c.kind, other.name)...)
							own.Close()
							reached := peer != nil && hears(peer) || other.heard != nil && other.heard()
							if !boxed || c.family == "unix" && c.kind == "stream" {
								if r.code != 0 || !strings.HasPrefix(r.err, "started\n") || !reached {
									t.Fatalf("boxed %v: the socket cannot be used: %v", boxed, r)
								}
								continue
							}
							said, _ := psbLines(r.err)
							if r.code != 125 || len(said) != 1 || !strings.Contains(said[0], fmt.Sprintf("descriptor %d", fd)) || reached || strings.Contains(r.err, "started") {
								t.Errorf("want 125 and one line about the descriptor; another door was reached: %v; %v", reached, r)
							}
						}
					})
				}
			})
		}
	}
}

// sockets gives the connected socket a run gets, its peer where that hears what is sent, and another door of the host.
func (s trial) sockets(t *testing.T, family, kind string) (own, peer *os.File, other door) {
	t.Helper()
	if family == "unix" {
		types := map[string]int{"stream": unix.SOCK_STREAM, "dgram": unix.SOCK_DGRAM}
		pair, err := unix.Socketpair(unix.AF_UNIX, types[kind]|unix.SOCK_CLOEXEC, 0)
		must(t, err)
		own, peer = os.NewFile(uintptr(pair[0]), "own"), os.NewFile(uintptr(pair[1]), "peer")
		t.Cleanup(func() { own.Close(); peer.Close() })
		if kind == "stream" {
			return own, peer, door{name: "-"}
		}
		path := filepath.Join(s.sibling, "door")
		l, err := net.ListenPacket("unixgram", path)
		must(t, err)
		must(t, os.Chmod(path, 0o777))
		t.Cleanup(func() { l.Close() })
		return own, nil, door{name: path, heard: func() bool { return arrives(l) }}
	}
	if kind == "dgram" {
		near, far := packets(t), packets(t)
		conn, err := net.Dial("udp", near.LocalAddr().String())
		must(t, err)
		defer conn.Close()
		own, err = conn.(*net.UDPConn).File()
		must(t, err)
		return own, nil, door{name: fmt.Sprint(far.LocalAddr().(*net.UDPAddr).Port), heard: func() bool { return arrives(far) }}
	}
	near, far := listen(t, "tcp", "127.0.0.1:0"), listen(t, "tcp", "127.0.0.1:0")
	conn, err := net.Dial("tcp", near.Addr().String())
	must(t, err)
	defer conn.Close()
	own, err = conn.(*net.TCPConn).File()
	must(t, err)
	return own, nil, door{name: fmt.Sprint(far.Addr().(*net.TCPAddr).Port), heard: func() bool { return visitors(t, far) > 0 }}
}

func packets(t *testing.T) net.PacketConn {
	t.Helper()
	l, err := net.ListenPacket("udp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { l.Close() })
	return l
}

// arrives reports whether something was sent: what a process that has ended sent on this machine is already here.
func arrives(l net.PacketConn) bool {
	text, _ := waiting(l)
	return text == "hello"
}

// waiting takes what lies in a socket, and waits for nothing.
func waiting(l net.PacketConn) (text string, ok bool) {
	raw, err := l.(syscall.Conn).SyscallConn()
	if err != nil {
		return "", false
	}
	b, n := make([]byte, 16), 0
	readErr := raw.Read(func(fd uintptr) bool {
		n, _, err = unix.Recvfrom(int(fd), b, unix.MSG_DONTWAIT)
		return true
	})
	if err != nil || readErr != nil {
		return "", false
	}
	return string(b[:n]), true
}

func hears(peer *os.File) bool {
	b := make([]byte, 16)
	n, _, err := unix.Recvfrom(int(peer.Fd()), b, unix.MSG_DONTWAIT)
	return err == nil && string(b[:n]) == "hello"
}

// with runs a command that has a file at descriptor 0 or 1.
func (s trial) with(t *testing.T, fd int, file *os.File, argv ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := s.command(ctx, call{argv: argv})
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if fd == 0 {
		cmd.Stdin = file
	} else {
		cmd.Stdout = file
	}
	must(t, cmd.Start())
	cmd.Wait()
	if ctx.Err() != nil {
		t.Fatalf("%q: not done after a minute\n%s", argv, errs.String())
	}
	return ended(cmd.ProcessState, "", errs.String())
}

// TestBreakPriorities: the box is in psb's process group, but the rest of that group is none of its business.
func TestBreakPriorities(t *testing.T) {
	besideOthers(t)
	against(t, func(t *testing.T, s trial) string {
		s.program(t, "priority.py")
		s.rules(t, "")
		sleeper := s.command(t.Context(), call{argv: []string{"/bin/sh", "-c", "read line", s.word}})
		in, err := sleeper.StdinPipe()
		must(t, err)
		must(t, sleeper.Start())
		defer func() { in.Close(); sleeper.Wait() }()
		pid := sleeper.Process.Pid
		until(t, "the sleeper runs", func() bool { return len(withWord(t, s.word)) > 0 })
		priorities := func() string {
			nice, err := unix.Getpriority(unix.PRIO_PROCESS, pid)
			must(t, err)
			io, _, errno := unix.Syscall(unix.SYS_IOPRIO_GET, 1, uintptr(pid), 0)
			if errno != 0 {
				t.Fatal(errno)
			}
			return fmt.Sprintf("nice %d, disk %#x", 20-nice, io)
		}
		before := priorities()

		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		cmd := s.command(ctx, call{argv: s.argv(t, []string{"--policy", ".py-sandboxes"}, "priority.py")})
		cmd.SysProcAttr.Pgid = pid
		cmd.Cancel = func() error { return syscall.Kill(cmd.Process.Pid, syscall.SIGKILL) }
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		s.started(t, result{out: string(out)})
		if after := priorities(); after != before {
			return fmt.Sprintf("a process of the group: %s before, %s after", before, after)
		}
		return ""
	})
}
