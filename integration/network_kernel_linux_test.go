package integration

import (
	"testing"

	"golang.org/x/sys/unix"
)

// servesAgain tells whether the kernel lets a socket become a server after a connect that failed; bound: to be bound to another port, too. Some of the 6.18
// series refuse it to anybody. Then a control can show no such server; what holds in a box is asked none the less.
func servesAgain(t *testing.T, bound bool) bool {
	t.Helper()
	return afterFailedConnect(t, bound, func(s int) error {
		if bound {
			must(t, unix.Bind(s, &unix.SockaddrInet4{Addr: loopback4}))
		}
		return unix.Listen(s, 1)
	})
}

var loopback4 = [4]byte{127, 0, 0, 1}

func afterFailedConnect(t *testing.T, bound bool, do func(s int) error) bool {
	t.Helper()
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	must(t, err)
	defer unix.Close(s)
	if bound {
		must(t, unix.Bind(s, &unix.SockaddrInet4{Addr: loopback4}))
	}
	if err := unix.Connect(s, &unix.SockaddrInet4{Addr: loopback4, Port: 1}); err != unix.ECONNREFUSED {
		t.Fatalf("connect to a port that nobody serves: %v", err)
	}
	return do(s) == nil
}
