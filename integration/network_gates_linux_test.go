package integration

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// gate is a server that remembers who came and what they said first; it greets with "gate ADDRESS" and answers every line with the same.
type gate struct {
	listener net.Listener
	mu       sync.Mutex
	came     []string // the first line of each, in the order of their coming: two may share an address, where they came to different ones
	closed   sync.WaitGroup
}

// gate opens one at an address of the world, for the time of the test.
func (w *world) gate(t testing.TB, network, address string) *gate {
	t.Helper()
	l, err := net.Listen(network, address)
	must(t, err)
	d := &gate{listener: l}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			d.mu.Lock()
			who := len(d.came)
			d.came = append(d.came, "")
			d.closed.Add(1)
			d.mu.Unlock()
			go d.serve(c, who)
		}
	}()
	return d
}

func (d *gate) serve(c net.Conn, who int) {
	defer d.closed.Done()
	defer c.Close()
	fmt.Fprintf(c, "gate %s\n", c.LocalAddr())
	lines := bufio.NewReader(c)
	for first := true; ; first = false {
		line, err := lines.ReadString('\n')
		if first {
			d.mu.Lock()
			d.came[who] = strings.TrimSpace(line)
			d.mu.Unlock()
		}
		if err != nil {
			return
		}
		c.Write([]byte(line))
	}
}

// visits are the first words of all who came before now, sorted. It comes itself, last in the queue, and waits for those ahead.
func (d *gate) visits(t testing.TB) (words []string) {
	t.Helper()
	d.mu.Lock()
	before := len(d.came)
	d.mu.Unlock()
	mark := "mark " + random()
	c, err := net.Dial(d.listener.Addr().Network(), d.listener.Addr().String())
	must(t, err)
	c.Write([]byte(mark + "\n"))
	marked := func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		return slices.Contains(d.came, mark)
	}
	until(t, fmt.Sprintf("the gate %s has let everybody in (%d before)", d.listener.Addr(), before), marked)
	c.Close()
	done := make(chan struct{})
	go func() { d.closed.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("a visitor stays")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, word := range d.came {
		if !strings.HasPrefix(word, "mark ") {
			words = append(words, word)
		}
	}
	slices.Sort(words)
	return words
}

// mailbox is a UDP receiver that remembers what came and answers each datagram with the same bytes.
type mailbox struct {
	conn net.PacketConn
	mu   sync.Mutex
	got  [][]byte
}

// mailbox opens one at an address of the world, for the time of the test.
func (w *world) mailbox(t testing.TB, address string) *mailbox {
	t.Helper()
	c, err := net.ListenPacket("udp", address)
	must(t, err)
	m := &mailbox{conn: c}
	t.Cleanup(func() { c.Close() })
	go func() {
		for {
			b := make([]byte, 65536)
			n, from, err := c.ReadFrom(b)
			if err != nil {
				return
			}
			m.mu.Lock()
			m.got = append(m.got, b[:n])
			m.mu.Unlock()
			c.WriteTo(b[:n], from)
		}
	}()
	return m
}

// mail is what came before now, sorted, without what this function sends itself to know that nothing is on its way.
func (m *mailbox) mail(t testing.TB) (letters []string) {
	t.Helper()
	mark := []byte("mark " + random())
	c, err := net.Dial(m.conn.LocalAddr().Network(), m.conn.LocalAddr().String())
	must(t, err)
	defer c.Close()
	until(t, "the mailbox is read", func() bool {
		_, err = c.Write(mark) // again: a full mailbox drops it
		must(t, err)
		m.mu.Lock()
		defer m.mu.Unlock()
		return slices.ContainsFunc(m.got, func(b []byte) bool { return bytes.Equal(b, mark) })
	})
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, b := range m.got {
		if !bytes.HasPrefix(b, []byte("mark ")) {
			letters = append(letters, string(b))
		}
	}
	slices.Sort(letters)
	return letters
}
