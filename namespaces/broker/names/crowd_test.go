package names

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// wire is a socket of datagrams and a listener without a kernel, for synctest's clock.
type wire struct {
	in     chan []byte
	out    chan []byte
	conns  chan net.Conn
	broken chan error
	closed chan struct{}
	once   sync.Once
}

func newWire() *wire {
	return &wire{in: make(chan []byte), out: make(chan []byte, 4*mostQuestions), conns: make(chan net.Conn), broken: make(chan error), closed: make(chan struct{})}
}

func (w *wire) ReadFrom(b []byte) (int, net.Addr, error) {
	select {
	case m := <-w.in:
		return copy(b, m), nil, nil
	case err := <-w.broken:
		return 0, nil, err
	case <-w.closed:
		return 0, nil, net.ErrClosed
	}
}

func (w *wire) WriteTo(b []byte, _ net.Addr) (int, error) { w.out <- b; return len(b), nil }

func (w *wire) Accept() (net.Conn, error) {
	select {
	case c := <-w.conns:
		return c, nil
	case err := <-w.broken:
		return nil, err
	case <-w.closed:
		return nil, net.ErrClosed
	}
}

func (w *wire) Close() error {
	w.once.Do(func() { close(w.closed) })
	return nil
}

func (w *wire) LocalAddr() net.Addr              { return nil }
func (w *wire) Addr() net.Addr                   { return nil }
func (w *wire) SetDeadline(time.Time) error      { return nil }
func (w *wire) SetReadDeadline(time.Time) error  { return nil }
func (w *wire) SetWriteDeadline(time.Time) error { return nil }

// connect is a new connection to the listener.
func (w *wire) connect() net.Conn {
	near, far := net.Pipe()
	w.conns <- far
	return near
}

// crowd is a server with a host that does not answer until it is let go.
func crowd() (*Server, *held) {
	h := &held{release: make(chan struct{})}
	return New(Config{Ruled: func(name string) bool { return within(name, "example") }, Lookup: h.lookup}), h
}

// numbered is a question with an id.
func numbered(id int, name string) []byte {
	return message(name, dnsmessage.TypeA, func(m *dnsmessage.Message) { m.ID = uint16(id) })
}

// However many questions wait for the host, those that need no waiting are answered, and no further one is kept.
func TestCrowdOfDatagrams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, h := crowd()
		w := newWire()
		var running sync.WaitGroup
		running.Go(func() {
			if err := s.ServePacket(t.Context(), w); err != nil {
				t.Error(err)
			}
		})
		for i := range mostQuestions {
			w.in <- numbered(i, fmt.Sprintf("n%d.example.", i))
		}
		synctest.Wait()
		if len(w.out) > 0 {
			t.Errorf("%d answers before the host gave any", len(w.out))
		}
		for i, row := range []struct {
			name string
			code dnsmessage.RCode
			says string
		}{{"one-more.example.", failure, ""}, {"localhost.", success, "127.0.0.1"}, {"evil.test.", missing, ""}} {
			w.in <- numbered(1000+i, row.name)
			if m := parse(t, <-w.out); m.ID != uint16(1000+i) || m.RCode != row.code || said(m) != row.says {
				t.Errorf("%s: %s", row.name, m.GoString())
			}
		}
		close(h.release)
		seen := map[uint16]bool{}
		for range mostQuestions {
			m := parse(t, <-w.out)
			if m.RCode != success || seen[m.ID] {
				t.Errorf("late: %s", m.GoString())
			}
			seen[m.ID] = true
		}
		w.in <- numbered(2000, "one-more.example.")
		if m := parse(t, <-w.out); m.RCode != success {
			t.Errorf("afterwards: %s", m.GoString())
		}
		w.Close()
		running.Wait()
	})
}

// The server has ended when all it began has: what it tells, it does not tell afterwards.
func TestEndsWhole(t *testing.T) {
	for _, way := range []string{"packets", "streams"} {
		synctest.Test(t, func(t *testing.T) {
			told, w := make(chan struct{}), newWire()
			s := New(Config{Refused: func(string) { <-told }})
			ctx, cancel := context.WithCancel(t.Context())
			end := make(chan error, 1)
			if way == "packets" {
				go func() { end <- s.ServePacket(ctx, w) }()
				w.in <- numbered(1, "evil.test.")
			} else {
				go func() { end <- s.ServeStream(ctx, w) }()
				if err := send(w.connect(), numbered(1, "evil.test.")); err != nil {
					t.Fatal(err)
				}
			}
			synctest.Wait()
			cancel()
			synctest.Wait()
			if len(end) > 0 {
				t.Errorf("%s: ended before all it began", way)
			}
			close(told)
			if err := <-end; err != nil {
				t.Error(err)
			}
		})
	}
}

// What is too long for a question is not read as a shorter one, and garbage gets no answer; the next question does.
func TestDatagramsThatAreNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, w := newHost().server(), newWire()
		go s.ServePacket(t.Context(), w)
		for _, b := range [][]byte{append(numbered(1, "pypi.org."), make([]byte, mostQuery)...), {}, []byte("garbage")} {
			w.in <- b
		}
		w.in <- append(numbered(2, "pypi.org."), make([]byte, mostQuery-26)...)
		if m := parse(t, <-w.out); m.ID != 2 || m.RCode != success {
			t.Errorf("%s", m.GoString())
		}
		w.Close()
	})
}

// lacks is what accept(2) gives where a process has no descriptor left.
type lacks struct{ error }

func (lacks) Temporary() bool { return true }

// A lack that passes does not end the server; what does not pass is told.
func TestSocketsThatBreak(t *testing.T) {
	for _, way := range []string{"packets", "streams"} {
		synctest.Test(t, func(t *testing.T) {
			s, w := newHost().server(), newWire()
			end := make(chan error, 1)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			serve := func(ctx context.Context) {
				if way == "packets" {
					end <- s.ServePacket(ctx, w)
				} else {
					end <- s.ServeStream(ctx, w)
				}
			}
			go serve(ctx)
			for range 100 {
				w.broken <- &net.OpError{Op: "accept", Err: lacks{errors.New("too many open files")}}
			}
			if way == "packets" {
				w.in <- numbered(1, "pypi.org.")
				<-w.out
			} else {
				converseOnce(t, w.connect(), "pypi.org.", success)
			}
			w.broken <- &net.OpError{Op: "accept", Err: io.ErrUnexpectedEOF}
			if err := <-end; !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%s: ends with %v", way, err)
			}

			w = newWire()
			go serve(ctx)
			w.broken <- lacks{errors.New("too many open files")}
			cancel()
			if err := <-end; err != nil {
				t.Errorf("%s: ends with %v where that was wished for", way, err)
			}
		})
	}
}

func converseOnce(t *testing.T, conn net.Conn, name string, code dnsmessage.RCode) {
	t.Helper()
	if err := send(conn, numbered(1, name)); err != nil {
		t.Fatal(err)
	}
	b, err := receive(conn)
	if err != nil {
		t.Fatal(err)
	}
	if m := parse(t, b); m.ID != 1 || m.RCode != code {
		t.Errorf("%s: %s", name, m.GoString())
	}
}

// closed waits until the other side has closed the connection.
func closed(conn net.Conn) error {
	_ = conn.SetReadDeadline(time.Time{}) // of a pipe that is closed it cannot be set
	n, err := conn.Read(make([]byte, 1))
	if n != 0 || err != io.EOF {
		return fmt.Errorf("%d bytes, %v where the connection should be closed", n, err)
	}
	return nil
}

func TestCrowdOfConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, w := newHost().server(), newWire()
		ctx, cancel := context.WithCancel(t.Context())
		end := make(chan error)
		go func() { end <- s.ServeStream(ctx, w) }()
		var conns []net.Conn
		for range mostConnections {
			conns = append(conns, w.connect())
		}
		if err := closed(w.connect()); err != nil {
			t.Errorf("one too many: %v", err)
		}
		for _, c := range conns {
			converseOnce(t, c, "pypi.org.", success)
		}
		conns[0].Close()
		synctest.Wait()
		conns[0] = w.connect() // which has the place of the one that left
		converseOnce(t, conns[0], "localhost.", success)

		// Nothing said, half a length, half a question: all end at the same time after that.
		idleSince := time.Now()
		if _, err := conns[1].Write([]byte{0}); err != nil {
			t.Error(err)
		}
		if _, err := conns[2].Write([]byte{0, 12, 1, 2, 3}); err != nil {
			t.Error(err)
		}
		for _, c := range conns[:3] {
			if err := closed(c); err != nil || time.Since(idleSince) != idle {
				t.Errorf("%v after %v", err, time.Since(idleSince))
			}
		}

		last := w.connect()
		idleSince = time.Now()
		cancel()
		if err := <-end; err != nil {
			t.Error(err)
		}
		if err := closed(last); err != nil || time.Since(idleSince) != 0 {
			t.Errorf("after the end: %v, %v", err, time.Since(idleSince))
		}
	})
}

// Questions of one connection do not wait for each other, and one who does not read holds no one up but himself.
func TestConversation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, h := crowd()
		w := newWire()
		go s.ServeStream(t.Context(), w)
		c := w.connect()
		if err := send(c, numbered(1, "slow.example.")); err != nil {
			t.Fatal(err)
		}
		if err := send(c, numbered(2, "localhost.")); err != nil {
			t.Fatal(err)
		}
		b, err := receive(c)
		if err != nil || parse(t, b).ID != 2 {
			t.Fatalf("first %x, %v", b, err)
		}

		// The host answers, and there are answers for one who has stopped reading.
		deaf := w.connect()
		for i := range mostPipelined {
			if err := send(deaf, numbered(i, "localhost.")); err != nil {
				t.Fatal(err)
			}
		}
		close(h.release)
		b, err = receive(c)
		if err != nil || parse(t, b).ID != 1 {
			t.Fatalf("then %x, %v", b, err)
		}
		converseOnce(t, c, "slow.example.", success)
		begin, query := time.Now(), numbered(99, "localhost.")
		query = append(binary.BigEndian.AppendUint16(nil, uint16(len(query))), query...)
		if err := deaf.SetWriteDeadline(time.Time{}); err != nil {
			t.Fatal(err)
		}
		// The deaf one's questions are taken until as many answers wait as may; then it has the time that one answer may take.
		for err = nil; err == nil && time.Since(begin) <= idle; {
			_, err = deaf.Write(query)
		}
		if !errors.Is(err, io.ErrClosedPipe) || time.Since(begin) != idle {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		w.Close()
		c.Close()
		deaf.Close()
	})
}

// A message that is longer than a question can be ends the connection before it is read.
func TestLongMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, w := newHost().server(), newWire()
		go s.ServeStream(t.Context(), w)
		c := w.connect()
		begin := time.Now()
		if _, err := c.Write(binary.BigEndian.AppendUint16(nil, mostQuery+1)); err != nil {
			t.Fatal(err)
		}
		if err := closed(c); err != nil || time.Since(begin) != 0 {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		c = w.connect()
		if err := send(c, append(numbered(1, "pypi.org."), make([]byte, mostQuery-26)...)); err != nil {
			t.Fatal(err)
		}
		if b, err := receive(c); err != nil || parse(t, b).RCode != success {
			t.Errorf("the longest question: %x, %v", b, err)
		}
		c.Close()
		w.Close()
	})
}

// One who has said that no more questions come still gets the answers. A pipe cannot be closed by half, so this one is of the kernel.
func TestHalfClosed(t *testing.T) {
	s, h := crowd()
	_, tcp := serve(t, s)
	conn, err := net.Dial("tcp", tcp.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := send(conn, numbered(7, "slow.example.")); err != nil {
		t.Fatal(err)
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	close(h.release)
	b, err := receive(conn)
	if err != nil || parse(t, b).ID != 7 || parse(t, b).RCode != success {
		t.Errorf("%x, %v", b, err)
	}
	if err := closed(conn); err != nil {
		t.Error(err)
	}
}
