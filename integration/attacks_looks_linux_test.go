package integration

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// watch runs a call with an input that stays open until the program says "ready" and look has looked, or until it ends.
func (s scene) watch(t *testing.T, c call, look func()) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := s.command(ctx, c)
	in, err := cmd.StdinPipe()
	must(t, err)
	r, w, err := os.Pipe()
	must(t, err)
	defer r.Close()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = w, &errs
	err = cmd.Start()
	w.Close()
	must(t, err)
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		out.WriteString(line)
		if line == "ready\n" && look != nil {
			look()
		}
		if err != nil || line == "ready\n" {
			break
		}
	}
	in.Close()
	io.Copy(&out, lines)
	cmd.Wait()
	if ctx.Err() != nil {
		t.Fatalf("%q: not done after a minute\n%s%s", c.argv, out.String(), errs.String())
	}
	return ended(cmd.ProcessState, out.String(), errs.String())
}

func listen(t *testing.T, network, address string) net.Listener {
	t.Helper()
	l, err := net.Listen(network, address)
	must(t, err)
	t.Cleanup(func() { l.Close() })
	return l
}

// visitors counts who connected before now: it comes to the door itself, last in the queue, and counts those ahead of it.
func visitors(t *testing.T, l net.Listener) (n int) {
	t.Helper()
	last, err := net.Dial(l.Addr().Network(), l.Addr().String())
	must(t, err)
	defer last.Close()
	_, err = last.Write([]byte("last"))
	must(t, err)
	for {
		c, err := l.Accept()
		must(t, err)
		c.SetReadDeadline(time.Now().Add(5 * time.Second))
		b := make([]byte, 4)
		k, _ := c.Read(b)
		c.Close()
		if string(b[:k]) == "last" {
			return n
		}
		n++
	}
}

// victim starts a process of the same person that has the token in its arguments and lives until the test ends.
func (s scene) victim(t *testing.T) (pid int, alive func() bool) {
	t.Helper()
	cmd := s.command(t.Context(), call{argv: []string{"/bin/sh", "-c", "read line", s.token}})
	in, err := cmd.StdinPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() { in.Close(); cmd.Wait() })
	until(t, "the victim runs", func() bool { return len(withWord(t, s.token)) > 0 })
	return cmd.Process.Pid, func() bool { return len(withWord(t, s.token)) > 0 }
}

// mounted looks for a mount with this source in every mount namespace.
func mounted(t *testing.T, source string) string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/mountinfo")
	must(t, err)
	for _, file := range files {
		b, _ := os.ReadFile(file)
		for line := range strings.Lines(string(b)) {
			if strings.Contains(line, " "+source+" ") {
				return "a mount: " + line
			}
		}
	}
	return ""
}

// resident is the memory, in MiB, that the processes with the word hold.
func resident(t *testing.T, word string) (mib int) {
	t.Helper()
	for _, p := range withWord(t, word) {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.pid))
		for line := range strings.Lines(string(b)) {
			if f := strings.Fields(line); len(f) == 3 && f[0] == "VmRSS:" {
				kib, _ := strconv.Atoi(f[1])
				mib += kib / 1024
			}
		}
	}
	return mib
}
