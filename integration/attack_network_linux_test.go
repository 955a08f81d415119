package integration

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// visitedPort is an attack on a TCP port of the host's loopback, which comes after the other arguments.
func visitedPort(env ...string) func(*testing.T, scene) attempt {
	return func(t *testing.T, _ scene) attempt {
		t.Helper()
		door := listen(t, "tcp", "127.0.0.1:0")
		return attempt{args: []string{port(door.Addr())}, env: env, got: func(result) string {
			if n := visitors(t, door); n > 0 {
				return fmt.Sprintf("a port of the host's loopback %d times", n)
			}
			return ""
		}}
	}
}

// receiver is an attack that sends "hello" to a UDP port of the host's loopback.
func receiver(t *testing.T, _ scene) attempt {
	t.Helper()
	door := packets(t)
	return attempt{args: []string{port(door.LocalAddr())}, got: func(result) string {
		if arrives(door) {
			return "a UDP port of the host's loopback"
		}
		return ""
	}}
}

// unixReceiver is an attack that sends "hello" to a unix datagram socket of the host.
func unixReceiver(name func(scene) string) func(*testing.T, scene) attempt {
	return func(t *testing.T, s scene) attempt {
		t.Helper()
		door, err := net.ListenPacket("unixgram", name(s))
		must(t, err)
		t.Cleanup(func() { door.Close() })
		word := strings.TrimPrefix(name(s), "@")
		if filepath.IsAbs(word) {
			must(t, os.Chmod(word, 0o777))
		}
		return attempt{args: []string{word}, got: func(result) string {
			if arrives(door) {
				return "a unix datagram socket of the host"
			}
			return ""
		}}
	}
}

func port(a net.Addr) string {
	_, p, _ := net.SplitHostPort(a.String())
	return p
}

// networkAttacks look for a way out by sockets.
func networkAttacks() []attack {
	const families, fastopen, datagrams, tcp = "other-socket-families", "connect-by-sending", "send-datagrams", "connect-by-any-name"
	const unixSockets, passed, listening, flipping = "talk-to-unix-sockets", "be-handed-a-descriptor", "listen-on-the-host", "change-what-was-judged"
	return []attack{
		{name: "network/families", claim: families, set: says(reaches)},
		{name: "network/raw", claim: families, set: says(reaches)},
		{name: "network/settings", claim: families, set: says(reaches)},

		{name: "network/fastopen", claim: fastopen, set: visitedPort()},
		{name: "network/fastopen_option", claim: fastopen, set: visitedPort()},

		{name: "network/sendto", claim: datagrams, set: receiver},
		{name: "network/sendmsg", claim: datagrams, set: receiver},
		{name: "network/sendmmsg", claim: datagrams, set: receiver},

		{name: "network/mapped", claim: tcp, set: visitedPort()},
		{name: "network/thread", claim: tcp, set: visitedPort()},
		{name: "network/proxy", claim: tcp, policy: "[env]\n\"*_PROXY\" = true\n\"*_proxy\" = true\n",
			set: visitedPort("HTTP_PROXY=http://127.0.0.1:1", "https_proxy=http://127.0.0.1:1", "ALL_PROXY=socks5://127.0.0.1:1", "no_proxy=")},

		{name: "network/abstract_dgram", claim: unixSockets, set: unixReceiver(func(s scene) string { return "@" + s.word })},
		{name: "network/abstract_stream", claim: unixSockets, set: func(t *testing.T, s scene) attempt {
			door := listen(t, "unix", "@"+s.word)
			return attempt{args: []string{s.word}, got: func(result) string {
				if n := visitors(t, door); n > 0 {
					return fmt.Sprintf("an abstract socket of the host %d times", n)
				}
				return ""
			}}
		}},
		{name: "network/unix_dgram", claim: unixSockets, set: unixReceiver(func(s scene) string { return filepath.Join(s.sibling, "door") })},
		{name: "network/passed", claim: passed, set: setPassed},

		{name: "network/listen", claim: listening, set: setListen},

		{name: "network/flip", claim: flipping, set: setFlip},
		{name: "network/flip_path", claim: flipping, policy: "[files]\n\"open.txt\" = \"read\"\n", set: func(t *testing.T, s scene) attempt {
			s.put(t, "home/code/project/open.txt", "open\n")
			s.give(t)
			return attempt{args: []string{"open.txt", filepath.Join(s.sibling, s.token+".txt"), "2000"}, got: func(r result) string {
				if strings.Contains(r.out, "# "+s.token) {
					return "the content of a file"
				}
				return ""
			}}
		}},
	}
}

// setPassed: a process of the host hands an open file to whoever comes to its sockets.
func setPassed(t *testing.T, s scene) attempt {
	t.Helper()
	path := filepath.Join(s.sibling, "door")
	file, err := os.Open(filepath.Join(s.sibling, s.token+".txt"))
	must(t, err)
	t.Cleanup(func() { file.Close() })
	for _, name := range []string{path, "@" + s.word} {
		l := listen(t, "unix", name)
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				c.(*net.UnixConn).WriteMsgUnix([]byte("x"), unix.UnixRights(int(file.Fd())), nil)
				c.Close()
			}
		}()
	}
	must(t, os.Chmod(path, 0o777))
	return attempt{args: []string{path, s.word}, got: func(r result) string {
		if strings.Contains(r.out, "# "+s.token) {
			return "a file by a descriptor from outside"
		}
		return ""
	}}
}

// setListen: the test comes to the port once the attack waits there.
func setListen(t *testing.T, _ scene) attempt {
	t.Helper()
	place := listen(t, "tcp", "127.0.0.1:0")
	p := port(place.Addr())
	must(t, place.Close())
	var reached string
	return attempt{args: []string{p}, got: func(result) string { return reached }, look: func() {
		for _, host := range []string{"127.0.0.1", "::1"} {
			if c, err := net.Dial("tcp", net.JoinHostPort(host, p)); err == nil {
				c.Close()
				reached += "visitors at " + c.RemoteAddr().String() + " "
			}
		}
	}}
}

// setFlip: the good address is the box's own loopback, where connects go on; the bad one is the machine's, and listened at.
func setFlip(t *testing.T, _ scene) attempt {
	t.Helper()
	bad := "127.0.0.2"
	addresses, err := net.InterfaceAddrs()
	must(t, err)
	for _, a := range addresses {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && !n.IP.IsLoopback() {
			bad = n.IP.String() // one that psb refuses: never left by what goes to it
		}
	}
	door := listen(t, "tcp", bad+":0")
	return attempt{args: []string{"127.0.0.1", bad, port(door.Addr()), strconv.Itoa(500)}, got: func(result) string {
		if n := visitors(t, door); n > 0 {
			return fmt.Sprintf("the address that was not judged %d times", n)
		}
		return ""
	}}
}
