package integration

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// hostDoors are sockets of the host in a folder of the project: one of each type, for everybody.
type hostDoors struct {
	folder, name string // relative to the project
	stream       *net.UnixListener
	datagrams    net.PacketConn
}

func (s trial) hostDoors(t *testing.T) hostDoors {
	t.Helper()
	d := hostDoors{folder: "shared", name: "door-" + s.word}
	s.files(t, map[string]string{"shared/file": ""})
	path := filepath.Join(s.project, d.folder, d.name)
	d.stream = listen(t, "unix", path).(*net.UnixListener)
	gram := filepath.Join(s.project, d.folder, "datagrams")
	var err error
	d.datagrams, err = net.ListenPacket("unixgram", gram)
	must(t, err)
	t.Cleanup(func() { d.datagrams.Close() })
	for _, p := range []string{path, gram} {
		must(t, os.Chmod(p, 0o777))
	}
	must(t, os.Symlink(d.name, filepath.Join(s.project, d.folder, "link")))
	return d
}

// visited counts, without waiting, who came to the stream socket and what came to the datagram socket.
func (d hostDoors) visited(t *testing.T) (n int) {
	t.Helper()
	for {
		if _, ok := waiting(d.datagrams); !ok {
			return n + visitors(t, d.stream)
		}
		n++
	}
}

// doorWays are the ways door.py knows, with what each gets in the box. A datagram socket does not come to be there at all.
var doorWays = map[string]string{
	"relative": "EACCES", "absolute": "EACCES", "dots": "EACCES", "timeout": "EACCES", "bytes": "EACCES", "own folder": "EACCES", "own root": "EACCES",
	"link": "EACCES", "own link": "EACCES", "held folder": "EACCES", "held socket": "EACCES", "seqpacket": "EACCES", "from its folder": "EACCES",
	"above": "EACCES", "datagram": "EACCES", "datagram sent": "EACCES", "raw": "EACCES", "pair": "EACCES",
}

// TestUnixSocketsOfTheHost: a socket of a host process that stands in a granted folder is not connected to, however its path is said; it
// is refused with EACCES and a denial that names it. Only what the box's own processes bound is.
func TestUnixSocketsOfTheHost(t *testing.T) {
	besideOthers(t)
	for _, right := range []string{"read", "write"} {
		t.Run(right, func(t *testing.T) {
			against(t, func(t *testing.T, s trial) string {
				b, err := os.ReadFile("testdata/sockets/door.py")
				must(t, err)
				s.files(t, map[string]string{"door.py": string(b)})
				d := s.hostDoors(t)
				s.rules(t, fmt.Sprintf("\"shared/\" = %q\n", right))
				r := s.runs(t, "door.py", d.folder, d.name)
				n := d.visited(t)
				seen := map[string]string{}
				for line := range strings.Lines(r.out) {
					if at := strings.LastIndexByte(line, ' '); at > 0 {
						seen[line[:at]] = strings.TrimSpace(line[at:])
					}
				}
				if !s.boxed {
					for way := range doorWays {
						if want := map[bool]string{true: "EPROTOTYPE", false: "visited"}[way == "seqpacket"]; seen[way] != want {
							t.Errorf("control: %s: %q, want %q", way, seen[way], want)
						}
					}
					return fmt.Sprint(n, " visits")
				}
				for way, want := range doorWays {
					if seen[way] != want {
						t.Errorf("%s: %q, want %q", way, seen[way], want)
					}
				}
				said, hints := psbLines(r.err)
				path := filepath.Join(s.project, d.folder, d.name)
				if !slices.ContainsFunc(said, func(l string) bool { return strings.HasPrefix(l, "psb: denied: connect unix:"+path+" (") }) ||
					!slices.ContainsFunc(hints, func(l string) bool { return strings.Contains(l, "policy add") && strings.Contains(l, "unix:"+path) }) ||
					!slices.ContainsFunc(said, func(l string) bool { return strings.HasPrefix(l, "psb: denied: syscall socket (") }) {
					t.Errorf("no denial that names the socket: %v", r)
				}
				if n > 0 {
					return fmt.Sprint(n, " visits: ", r)
				}
				return ""
			})
		})
	}
}

// TestUnixSocketsRaced: what a connect rests on is taken once. A thread that flips the path in the address, or the descriptor, gets its own
// server or a refusal, never the host's; and its own server is reached all the same.
func TestUnixSocketsRaced(t *testing.T) {
	besideOthers(t)
	_, err := exec.LookPath("cc")
	ledger.Need(t, "cc", err)
	bin := filepath.Join(t.TempDir(), "door")
	if out, err := exec.Command("cc", "-O1", "-Wall", "-Werror", "-static", "-pthread", "-o", bin, "testdata/sockets/door.c").CombinedOutput(); err != nil {
		t.Fatalf("cc: %v\n%s", err, out)
	}
	code, err := os.ReadFile(bin)
	must(t, err)
	round := regexp.MustCompile(`(?m)^(\w+) own (\d+) refused (\d+) other (\d+)$`)
	against(t, func(t *testing.T, s trial) string {
		d := s.hostDoors(t)
		d.stream.SetUnlinkOnClose(false)
		s.files(t, map[string]string{"door": string(code)})
		must(t, os.Chmod(filepath.Join(s.project, "door"), 0o755))
		s.rules(t, "\"shared/\" = \"write\"\n\"door\" = \"exec\"\n")
		visits := make(chan int)
		go func() { // the host's server never lets its queue fill
			n := 0
			for {
				c, err := d.stream.Accept()
				if err != nil {
					visits <- n
					return
				}
				n++
				c.Close()
			}
		}()
		argv := []string{"./door", d.folder + "/" + d.name, "/tmp/own-" + s.word}
		if s.boxed {
			argv = slices.Concat([]string{psb(t), "exec", "--policy", ".py-sandboxes", "--"}, argv)
		}
		r := s.started(t, s.run(t, call{argv: argv}))
		d.stream.Close()
		n := <-visits
		seen := map[string][3]string{}
		for _, m := range round.FindAllStringSubmatch(r.out, -1) {
			seen[m[1]] = [3]string(m[2:])
		}
		if !s.boxed {
			return fmt.Sprintf("%d visits: %v", n, seen)
		}
		if seen["plain"] != [3]string{"0", "400", "0"} || seen["path"][0] == "0" || seen["path"][0] == "" || seen["descriptor"][0] != "0" {
			t.Errorf("the rounds saw %v: %v", seen, r)
		}
		if n > 0 {
			return fmt.Sprintf("%d visits: %v", n, seen)
		}
		return ""
	})
}

// TestUnixSocketsOfTheBox: a program's own servers are there for it as without psb, in its private space, in a folder it may write, by
// abstract name and on the loopback.
func TestUnixSocketsOfTheBox(t *testing.T) {
	besideOthers(t)
	code, err := os.ReadFile("testdata/sockets/own.py")
	must(t, err)
	things := regexp.MustCompile(`(?m)^ok (\w+)$`)
	for _, who := range people() {
		t.Run(who.name, func(t *testing.T) {
			var control []string
			for _, boxed := range []bool{false, true} {
				if boxed && controlOnly() {
					return
				}
				s := trial{scene: newScene(t, who), boxed: boxed}
				_, err := s.choose(t, "system", nil)
				ledger.Need(t, "python3", err)
				s.files(t, map[string]string{"own.py": string(code), "run/file": ""})
				s.rules(t, "\"run/\" = \"write\"\n")
				r := s.run(t, call{argv: s.argv(t, []string{"--policy", ".py-sandboxes"}, "own.py", "run")})
				var ok []string
				for _, m := range things.FindAllStringSubmatch(r.out, -1) {
					ok = append(ok, m[1])
				}
				if r.code != 0 || strings.Contains(r.out, "failed") || len(ok) < 20 {
					t.Errorf("boxed %v: %v", boxed, r)
				}
				if said, _ := psbLines(r.err); boxed && (!slices.Equal(ok, control) || slices.ContainsFunc(said, func(l string) bool { return strings.Contains(l, "denied: connect") })) {
					t.Errorf("works in the box: %v\nwithout psb: %v\n%v", ok, control, r)
				}
				control = ok
			}
		})
	}
}

// TestSocketsFromOutside: a socket that a process outside handed over belongs to the host's network, where the same addresses mean other
// servers: psb connects none of them.
func TestSocketsFromOutside(t *testing.T) {
	besideOthers(t)
	code, err := os.ReadFile("testdata/sockets/handed.py")
	must(t, err)
	against(t, func(t *testing.T, s trial) string {
		s.files(t, map[string]string{"handed.py": string(code)})
		s.rules(t, "")
		tcp, abstract := listen(t, "tcp", "127.0.0.1:0"), listen(t, "unix", "@"+s.word)
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		must(t, err)
		defer unix.Close(pair[1])
		for _, family := range []int{unix.AF_INET, unix.AF_UNIX} {
			fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
			must(t, err)
			must(t, unix.Sendmsg(pair[1], []byte("s"), unix.UnixRights(fd), nil, 0))
			unix.Close(fd)
		}
		own := os.NewFile(uintptr(pair[0]), "stdin")
		defer own.Close()
		port := fmt.Sprint(tcp.Addr().(*net.TCPAddr).Port)
		r := s.started(t, s.run(t, call{argv: s.argv(t, []string{"--policy", ".py-sandboxes"}, "handed.py", port, s.word), stdin: own}))
		if s.boxed {
			said, _ := psbLines(r.err)
			if r.out != "started\nEACCES\nEACCES\n" || !slices.Contains(said, "psb: denied: connect 127.0.0.1:"+port) || !slices.Contains(said, "psb: denied: connect unix:@"+s.word) {
				t.Errorf("want two refusals and their denials: %v", r)
			}
		}
		if a, b := visitors(t, tcp), visitors(t, abstract); a+b > 0 {
			return fmt.Sprintf("%d visits at the port, %d at the abstract name", a, b)
		}
		return ""
	})
}
