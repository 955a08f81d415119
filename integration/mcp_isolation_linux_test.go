package integration

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// hostThings are what code in a box must not gain: a file, a process, and doors of the host.
type hostThings struct {
	file, process string
	tcp           net.Listener
	unix          net.Listener
	door          string
}

func (s scene) hostThings(t *testing.T) hostThings {
	t.Helper()
	h := hostThings{file: s.put(t, "home/secret.txt", "the secret "+s.token), process: "p" + random(), door: s.home + "/agent.sock"}
	var err error
	h.tcp, err = net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	h.unix, err = net.Listen("unix", h.door)
	must(t, err)
	must(t, os.Chmod(h.door, 0o777))
	s.give(t)
	ctx, cancel := context.WithCancel(context.Background())
	cmd := s.command(ctx, call{argv: []string{"/bin/sh", "-c", "sleep 600; true", h.process}})
	must(t, cmd.Start())
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait()
		h.tcp.Close()
		h.unix.Close()
	})
	return h
}

func (h hostThings) args() []string {
	return []string{h.file, h.process, strconv.Itoa(h.tcp.Addr().(*net.TCPAddr).Port), h.door}
}

// TestMCPRoutesGainNothing: whichever way code comes to the real os module, it gains no file, no process, no network and no socket of the host; without psb
// each of these ways gains all of them.
func TestMCPRoutesGainNothing(t *testing.T) {
	besideOthers(t)
	text, err := os.ReadFile("testdata/mcp/routes.py")
	must(t, err)
	everyone(t, func(t *testing.T, s scene) {
		h := s.hostThings(t)
		ways := func(out string) (all map[string]string) {
			all = map[string]string{}
			for line := range strings.Lines(out) {
				name, gained, _ := strings.Cut(strings.TrimSpace(line), ":")
				all[name] = strings.TrimSpace(gained)
			}
			return all
		}
		program := s.put(t, "home/routes.py", string(text))
		free := ways(s.run(t, call{argv: append([]string{systemPython, program}, h.args()...)}).out)
		if len(free) < 20 {
			t.Fatalf("control: %d ways: %v", len(free), free)
		}
		for name, gained := range free {
			if gained != "file process network socket native" {
				t.Fatalf("control: %s gains %q", name, gained)
			}
		}
		if n := visitors(t, h.tcp); n != len(free) {
			t.Fatalf("control: %d visitors", n)
		}
		visitors(t, h.unix)
		if controlOnly() {
			return
		}
		a := s.agentOf(t, call{argv: []string{psb(t), "mcp", "--python", systemPython}, env: []string{"SSH_AUTH_SOCK=" + h.door, "DBUS_SESSION_BUS_ADDRESS=unix:path=" + h.door}})
		for _, more := range [][]any{nil, {"session", "w"}} {
			r := a.python(string(text), append([]any{"args", h.args()}, more...)...)
			r.want(t, "ok")
			boxed := ways(r.part("stdout"))
			if len(boxed) != len(free) {
				t.Errorf("%d ways are there, %d without psb:\n%s", len(boxed), len(free), r.text())
			}
			for name, gained := range boxed {
				if gained != "" {
					t.Errorf("%s gains %s", name, gained)
				}
			}
		}
		if n := visitors(t, h.tcp) + visitors(t, h.unix); n != 0 {
			t.Errorf("%d came through the host's doors", n)
		}
	})
}

// everyone runs a behaviour as each person; without psb only what it does for its control counts.
func everyone(t *testing.T, do func(t *testing.T, s scene)) {
	t.Helper()
	for _, who := range people() {
		t.Run(who.name, func(t *testing.T) { do(t, newScene(t, who)) })
	}
}

// spoils are ways to take or change a file, its name in $1.
var spoils = []string{
	`rm "$1"`, `'rm' "$1"`, `r\m "$1"`, "true\nrm \"$1\"", `/bin/rm "$1"`, `env rm "$1"`, `command rm "$1"`, `(exec rm "$1")`, `eval "rm '$1'"`, `timeout 5 rm "$1"`,
	`nohup rm "$1"`, `echo "$1" | xargs rm`, `A=1 rm "$1"`, `:; rm "$1"`, `true && rm "$1"`, `false || rm "$1"`, `echo y | rm -i "$1"`, `$(echo rm) "$1"`, `X=rm; $X "$1"`,
	`{ rm "$1"; }`, `if true; then rm "$1"; fi`, `find "$1" -delete`, `find "$1" -exec rm {} +`, `unlink "$1"`, `mv "$1" /tmp/away`, `mv "$(dirname "$1")" "$(dirname "$1").away"`, `ln -sf /etc/passwd "$1"`,
	`python3 -c 'import os, sys; os.unlink(sys.argv[1])' "$1"`, `perl -e 'unlink $ARGV[0]' "$1"`, `truncate -s 0 "$1"`, `: >"$1"`, `echo more >>"$1"`, `dd if=/dev/null of="$1" status=none`,
	`tee "$1" </dev/null`, `cp /dev/null "$1"`, `sed -i s/kept/lost/ "$1"`, `install /dev/null "$1"`, `chmod 0 "$1"`, `sh -c 'rm "$0"' "$1"`, `bash -c 'rm "$0"' "$1"`, `touch -d @1 "$1"`, `cd "$(dirname "$1")" && rm ./*`,
	`rm -rf "$(dirname "$1")"`,
}

// TestMCPReadOnlyHoldsInEverySpelling: a file that a profile lets code read is there afterwards as it was, whatever a shell is told; without psb each of
// these takes or changes it.
func TestMCPReadOnlyHoldsInEverySpelling(t *testing.T) {
	besideOthers(t)
	everyone(t, func(t *testing.T, s scene) {
		name := s.home + "/data/kept"
		state := func() string {
			info, err := os.Lstat(name)
			if err != nil {
				return "gone"
			}
			b, _ := os.ReadFile(name)
			return fmt.Sprint(info.Mode(), info.ModTime(), string(b))
		}
		fresh := func() string {
			must(t, os.RemoveAll(s.home+"/data"))
			must(t, os.RemoveAll(s.home+"/data.away"))
			s.put(t, "home/data/kept", "kept\n")
			s.give(t)
			must(t, os.Chtimes(name, time.Unix(1e9, 0), time.Unix(1e9, 0)))
			return state()
		}
		var works []string
		for _, w := range spoils {
			was := fresh()
			if s.run(t, call{argv: []string{"/bin/sh", "-c", w, "sh", name}}); state() != was {
				works = append(works, w)
			}
		}
		os.Remove("/tmp/away")
		if len(works) < len(spoils)-5 { // a host may have no perl
			t.Fatalf("control: only %d of %d do anything: %q", len(works), len(spoils), works)
		}
		if controlOnly() {
			return
		}
		was := fresh()
		policy := s.put(t, "home/profiles/p.py-sandboxes", "version = 1\n[files]\n\"/usr/\" = [\"read\", \"exec\"]\n\""+s.home+"/data/\" = \"read\"\n[python]\nshim = false\n")
		s.give(t)
		a := s.agent(t, "--profiles", filepath.Dir(policy), "--python", systemPython)
		a.shell("w", `cat "$1"`, "args", []string{name}, "profile", "p").want(t, "ok", "kept")
		for _, w := range works {
			r := a.shell("w", w, "args", []string{name})
			if now := state(); now != was {
				t.Fatalf("%q: %s became %s\n%s", w, was, now, r.text())
			}
		}
	})
}

// TestMCPNoNetworkAtAll: with network none nothing of any kind leaves a box, by whatever program.
func TestMCPNoNetworkAtAll(t *testing.T) {
	besideOthers(t)
	each(t, func(t *testing.T, s scene) {
		tcp, err := net.Listen("tcp", "127.0.0.1:0")
		must(t, err)
		defer tcp.Close()
		udp, err := net.ListenPacket("udp", "127.0.0.1:0")
		must(t, err)
		defer udp.Close()
		port, sent := tcp.Addr().(*net.TCPAddr).Port, udp.LocalAddr().(*net.UDPAddr).Port
		a := s.agent(t)
		code := fmt.Sprintf(`import socket, asyncio, urllib.request
def datagram(family=socket.AF_INET, kind=socket.SOCK_DGRAM, number=0, to=("127.0.0.1", %[2]d), text=b"x"):
    with socket.socket(family, kind, number) as s: s.sendto(text, to)
ping = b"\x08\x00\xf7\xff\x00\x00\x00\x00"
ways = {
    "tcp": lambda: socket.create_connection(("127.0.0.1", %[1]d), 5), "tcp, by name": lambda: socket.create_connection(("localhost", %[1]d), 5),
    "tcp, version 6": lambda: socket.create_connection(("::1", %[1]d), 5), "mapped": lambda: socket.create_connection(("::ffff:127.0.0.1", %[1]d), 5),
    "http": lambda: urllib.request.urlopen("http://127.0.0.1:%[1]d/", timeout=5), "elsewhere": lambda: socket.create_connection(("192.0.2.1", 80), 5),
    "udp elsewhere": lambda: datagram(to=("192.0.2.1", 53)), "broadcast": lambda: datagram(to=("255.255.255.255", 53)),
    "name": lambda: socket.getaddrinfo("example.com", 80), "address": lambda: socket.gethostbyaddr("192.0.2.1"),
    "raw": lambda: datagram(kind=socket.SOCK_RAW, number=1, text=ping), "ping": lambda: datagram(number=1, to=("192.0.2.1", 0), text=ping),
    "packet": lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 3), "abstract": lambda: socket.socket(socket.AF_UNIX).connect("\0/tmp/.X11-unix/X0"),
}
datagram()  # into the box's own loopback, where nobody is
for name, way in ways.items():
    try:
        way(); print(name, "left the box")
    except OSError:
        pass
print("tried", len(ways))`, port, sent)
		for _, more := range [][]any{nil, {"session", "w"}} {
			if r := a.python(code, more...); r.part("stdout") != "tried 14\n" {
				t.Errorf("%s", r.text())
			}
		}
		r := a.shell("", fmt.Sprintf("bash -c 'echo x >/dev/tcp/127.0.0.1/%d' || bash -c 'echo x >/dev/tcp/localhost/%d' || echo refused; bash -c 'echo x >/dev/udp/127.0.0.1/%d'; echo $?", port, port, sent))
		if !strings.HasPrefix(r.part("stdout"), "refused\n") || !strings.Contains(r.part("stderr"), "/dev/tcp/127.0.0.1/") {
			t.Errorf("%s", r.text())
		}
		if n := visitors(t, tcp); n != 0 {
			t.Errorf("%d came by TCP", n)
		}
		_, err = udp.WriteTo([]byte("last"), udp.LocalAddr())
		must(t, err)
		b := make([]byte, 10)
		must(t, udp.SetReadDeadline(time.Now().Add(10*time.Second)))
		n, _, err := udp.ReadFrom(b)
		if must(t, err); string(b[:n]) != "last" {
			t.Errorf("a datagram came: %q", b[:n])
		}
	})
}

// TestMCPPsbInsideNarrowsAlone: code that may start psb itself gains nothing by a policy or a provider of its own choice.
func TestMCPPsbInsideNarrowsAlone(t *testing.T) {
	besideOthers(t)
	each(t, func(t *testing.T, s scene) {
		s.put(t, "home/data/secret", s.token)
		policy := s.put(t, "home/profiles/p.py-sandboxes", fmt.Sprintf("version = 1\n[files]\n\"/usr/\" = [\"read\", \"exec\"]\n%q = [\"read\", \"exec\"]\n[python]\nshim = false\n", psb(t)))
		s.give(t)
		a := s.agent(t, "--profiles", filepath.Dir(policy), "--python", systemPython)
		open := fmt.Sprintf("version = 1\n[files]\n%q = \"read\"\n\"/etc/shadow\" = \"read\"\n\"/usr/\" = [\"read\", \"exec\"]\n", s.home+"/data/")
		r := a.shell("", `try() { "$psb" exec "$@" >out 2>err && echo read || echo "exit $?"; cat out err >>all; }
psb=$1
try --policy open -- cat "$2"
try --provider landlock --allow-gap namespaces --allow-gap notify --policy open -- cat "$2"
OS_SANDBOX=none try --policy open -- cat "$2"
try --provider none --policy open -- cat "$2"
try --provider none --policy open -- cat /usr/lib/os-release`, "profile", "p", "args", []string{psb(t), s.home + "/data/secret"},
			"files", []any{map[string]any{"path": "open", "content": open}}, "return_files", []string{"all"})
		// The last ones show that psb runs there: what it reads then is what the box may read anyway.
		if want := "exit 125\nexit 125\nexit 125\nexit 1\nread\n"; r.part("stdout") != want || r.Meta.Result.Status != "ok" {
			t.Errorf("want %q\n%s", want, r.text())
		}
		for _, c := range r.Content {
			if strings.Contains(c.Text, s.token) || strings.Contains(string(c.Data), s.token) {
				t.Errorf("%s", c.Text)
			}
		}
	})
}
