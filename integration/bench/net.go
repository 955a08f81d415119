package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// netRow runs one network row under a peer and gives milliseconds: of the work alone, without the interpreter's start.
type netRow func(r row, p peer) (float64, error)

// netProgram times its own work and prints the milliseconds.
//
// A client ends its connections with a reset: those that wait out their time (TIME_WAIT) take ports away from the rounds after.
const netProgram = `import os, signal, socket, struct, sys, time
what, count, host, port = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])

def serve(listener):
    while True:
        c = listener.accept()[0]
        try:
            c.recv(1)
        except OSError:
            pass
        c.close()

if what == "inside":
    listener = socket.create_server(("127.0.0.1", 0), backlog=4096)  # the client does not wait for it, and a full queue makes it wait seconds
    host, port = listener.getsockname()
    child = os.fork()
    if child == 0:
        serve(listener)
elif what == "server":
    listener = socket.create_server((host, port), backlog=1024)
    print("ready", flush=True)
    for _ in range(count):
        c = listener.accept()[0]
        try:
            c.recv(1)
        except OSError:
            pass
        c.close()
    sys.exit()
elif what == "hold":
    held = [socket.create_connection((host, port)) for _ in range(count)]
    print("ready", flush=True)
    sys.stdin.read()
    sys.exit()
elif what in ("requests", "transfer"):
    c = socket.create_connection((host, port))
elif what == "names":
    if host == "inside":
        host = "127.0.0.53"
    c = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    c.connect((host, port))
    question = b"\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x09localhost\x00\x00\x01\x00\x01"
begin = time.perf_counter()
if what in ("inside", "connects"):
    for _ in range(count):
        s = socket.socket()
        s.connect((host, port))
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        s.close()
elif what == "requests":
    for _ in range(count):
        c.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        got = b""
        while not got.endswith(b"hello\n"):
            got += c.recv(4096)
elif what == "transfer":
    c.sendall(b"GET /big HTTP/1.1\r\nHost: x\r\n\r\n")
    buf, left = bytearray(1 << 18), count << 20
    while left > 0:
        n = c.recv_into(buf)
        if n == 0:
            raise SystemExit("cut short")
        left -= n
elif what == "names":
    for n in range(count):
        c.send(n.to_bytes(2, "big") + question)
        if c.recv(512)[:2] != n.to_bytes(2, "big"):
            raise SystemExit("another answer")
took = time.perf_counter() - begin
if what == "inside":
    os.kill(child, signal.SIGKILL)
print("ms", took * 1000)
`

// timed is a row whose program prints what its work took.
func timed(r row, p peer) (float64, error) {
	cmd, err := p.command(r)
	if err != nil {
		return 0, err
	}
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	err = cmd.Run()
	if word, ok := strings.CutPrefix(strings.TrimSpace(said.String()), "ms "); ok && err == nil {
		return strconv.ParseFloat(word, 64)
	}
	return 0, fmt.Errorf("%s: %v\n%s", p.name, err, said.String())
}

// visited is a row whose program is a server that the host visits: the time of the visits.
func visited(address string, count int) netRow {
	return func(r row, p peer) (float64, error) {
		cmd, err := p.command(r)
		if err != nil {
			return 0, err
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			return 0, err
		}
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			return 0, err
		}
		line, err := bufio.NewReader(out).ReadString('\n')
		if err != nil || line != "ready\n" {
			_ = cmd.Process.Kill()
			return 0, fmt.Errorf("%s: %q %v, %v", p.name, line, err, cmd.Wait())
		}
		begin := time.Now()
		for range count {
			c, err := net.Dial("tcp4", address)
			if err != nil {
				return 0, err
			}
			_ = c.(*net.TCPConn).SetLinger(0)
			c.Close()
		}
		took := time.Since(begin)
		return float64(took.Microseconds()) / 1000, cmd.Wait()
	}
}

// world is what stands on the host's side.
type world struct {
	closer, web net.Listener // closes what it accepts; speaks a little HTTP
	names       net.PacketConn
	free        string // an address that a server of the program may take
}

func newWorld() (*world, error) {
	w := &world{}
	var err error
	if w.closer, err = net.Listen("tcp4", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	if w.web, err = net.Listen("tcp4", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	if w.names, err = net.ListenPacket("udp4", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	w.free = l.Addr().String()
	l.Close()
	go accept(w.closer, func(c net.Conn) { _, _ = c.Read(make([]byte, 1)); c.Close() })
	go accept(w.web, func(c net.Conn) { go answerWeb(c) })
	go w.answerNames()
	return w, nil
}

func (w *world) close() {
	w.closer.Close()
	w.web.Close()
	w.names.Close()
}

func accept(l net.Listener, f func(net.Conn)) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		f(c)
	}
}

const transferMiB = 1024

func answerWeb(c net.Conn) {
	defer c.Close()
	in := bufio.NewReader(c)
	block := make([]byte, 1<<20)
	for {
		head, err := in.ReadString('\n')
		if err != nil {
			return
		}
		for line := head; line != "\r\n"; {
			if line, err = in.ReadString('\n'); err != nil {
				return
			}
		}
		if strings.HasPrefix(head, "GET /big ") {
			for range transferMiB {
				if _, err := c.Write(block); err != nil {
					return
				}
			}
			continue
		}
		if _, err := io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello\n"); err != nil {
			return
		}
	}
}

// answerNames says that every name is 127.0.0.1: what a name server costs when it has nothing to do.
func (w *world) answerNames() {
	buf := make([]byte, 512)
	for {
		n, from, err := w.names.ReadFrom(buf)
		if err != nil {
			return
		}
		b := append([]byte{}, buf[:n]...)
		binary.BigEndian.PutUint16(b[2:], 0x8180)
		binary.BigEndian.PutUint16(b[6:], 1)
		b = append(b, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 5, 0, 4, 127, 0, 0, 1)
		_, _ = w.names.WriteTo(b, from)
	}
}

// netRows are what a box does with the network; w may be nil where only their names matter.
func netRows(w *world) []row {
	closer, web, names, free := "127.0.0.1:1", "127.0.0.1:1", "127.0.0.1:1", "127.0.0.1:1"
	if w != nil {
		closer, web, names, free = w.closer.Addr().String(), w.web.Addr().String(), w.names.LocalAddr().String(), w.free
	}
	args := func(what string, count int, address string) []string {
		host, port, _ := net.SplitHostPort(address)
		return []string{"net.py", what, fmt.Sprint(count), host, port}
	}
	return []row{
		{name: "net-inside", about: "5 000 connects inside", args: args("inside", 5000, closer), net: timed},
		{name: "net-connects", about: "5 000 connects to the host", args: args("connects", 5000, closer), net: timed},
		{name: "net-requests", about: "5 000 requests, kept alive", args: args("requests", 5000, web), net: timed},
		{name: "net-transfer", about: "1 GiB", args: args("transfer", transferMiB, web), net: timed},
		{name: "net-names", about: "1 000 look-ups", args: args("names", 1000, names), net: timed},
		{name: "net-published", about: "2 000 visits to a server", args: args("server", 2000, free), net: visited(free, 2000)},
	}
}

// netPeers run the network rows: the same programs, in the box with rules for what stands on the host. Names are asked of psb's own name
// server inside, and of one that answers as little outside.
func (p place) netPeers(w *world) ([]peer, error) {
	rules := "version = 1\n[python.import]\nsocket = true\n[python.call]\n\"os.fork\" = true\n\"os.kill\" = true\n[net]\n"
	for _, l := range []net.Listener{w.closer, w.web} {
		rules += fmt.Sprintf("%q = \"connect\"\n", l.Addr())
	}
	rules += fmt.Sprintf("%q = \"listen\"\n", w.free)
	file := filepath.Join(p.aside, "net.toml")
	if err := os.WriteFile(file, []byte(rules), 0o644); err != nil {
		return nil, err
	}
	bare := peer{name: "bare", command: func(r row) (*exec.Cmd, error) { return p.start(append([]string{p.python}, r.args...)...), nil }}
	boxed := peer{name: "psb", command: func(r row) (*exec.Cmd, error) {
		words := append([]string{}, r.args...)
		if words[1] == "names" {
			words[3], words[4] = "inside", "53"
		}
		return p.start(append([]string{p.psb, "--python", p.python, "--policy", file}, words...)...), nil
	}}
	return []peer{bare, boxed}, nil
}
