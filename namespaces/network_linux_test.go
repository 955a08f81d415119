package namespaces

import (
	"net"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// TestSocketsOfTheBox: a socket that the box makes for psb is of the box's network, and of nobody else's.
func TestSocketsOfTheBox(t *testing.T) {
	needBox(t)
	_, exit, err := run(t, shellBox("exec sleep 60"), func(b *Box) {
		if err := b.Release(); err != nil {
			t.Fatal(err)
		}
		diag, route := b.Network()
		if diag == nil || route == nil {
			t.Fatal("no socket of the network")
		}
		defer diag.Close()
		defer route.Close()
		own, err := unix.GetsockoptUint64(int(diag.Fd()), unix.SOL_SOCKET, unix.SO_NETNS_COOKIE)
		if err != nil {
			t.Skipf("this kernel does not tell networks apart: %v", err)
		}
		for _, kind := range []int{unix.SOCK_STREAM, unix.SOCK_DGRAM} {
			for _, domain := range []int{unix.AF_INET, unix.AF_INET6} {
				fd, err := b.Socket(domain, kind)
				if err != nil {
					t.Fatalf("domain %d kind %d: %v", domain, kind, err)
				}
				flags, _ := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
				if c, err := unix.GetsockoptUint64(fd, unix.SOL_SOCKET, unix.SO_NETNS_COOKIE); err != nil || c != own || flags&unix.O_NONBLOCK == 0 {
					t.Errorf("domain %d kind %d: network %d of %d, flags %#x, %v", domain, kind, c, own, flags, err)
				}
				unix.Close(fd)
			}
		}
		// Port 53 inside is psb's to take, whoever it is.
		fd, err := b.Socket(unix.AF_INET, unix.SOCK_DGRAM)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(fd)
		if err := unix.Bind(fd, &unix.SockaddrInet4{Port: 53, Addr: [4]byte{127, 0, 0, 53}}); err != nil {
			t.Errorf("bind inside: %v", err)
		}
		f := os.NewFile(uintptr(fd), "")
		c, err := net.FilePacketConn(f)
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
		b.Kill()
	})
	if err == nil {
		t.Errorf("the box ended by itself: %v", exit)
	}
}

// TestSocketOfABoxThatIsGone: who asks too late is told so and does not wait.
func TestSocketOfABoxThatIsGone(t *testing.T) {
	needBox(t)
	var box *Box
	if _, _, err := run(t, shellBox(":"), func(b *Box) { box = b; _ = b.Release() }); err != nil {
		t.Fatal(err)
	}
	if fd, err := box.Socket(unix.AF_INET, unix.SOCK_DGRAM); err == nil {
		t.Errorf("descriptor %d", fd)
	}
}
