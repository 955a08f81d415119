package names

import (
	"bytes"
	"context"
	"errors"
	"net"
	"sync"
	"time"
)

const (
	mostPacket    = 512  // bytes of an answer by UDP; every program takes that many
	mostQuery     = 4096 // bytes of a question
	mostQuestions = 256  // by UDP that wait for the host at the same time
)

// ServePacket answers what arrives at a UDP socket, which it closes in the end. It gives nil once the socket is closed or ctx has ended, and
// leaves no goroutine behind.
func (s *Server) ServePacket(ctx context.Context, conn net.PacketConn) error {
	var underway sync.WaitGroup
	defer underway.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()

	over, end := context.WithCancel(ctx)
	end()
	places := make(chan struct{}, mostQuestions)
	buffer := make([]byte, mostQuery+1)
	for {
		n, from, err := conn.ReadFrom(buffer)
		if err != nil {
			if again, err := passes(ctx, err); !again {
				return err
			}
			continue
		}
		if n > mostQuery {
			continue // no question is that long, and the rest of it is lost
		}
		select {
		case places <- struct{}{}:
			message := bytes.Clone(buffer[:n])
			underway.Go(func() {
				defer func() { <-places }()
				s.reply(ctx, conn, from, message)
			})
		default:
			// So many wait for the host that one more would only be forgotten in a queue. What needs no waiting is answered all the same.
			s.reply(over, conn, from, buffer[:n])
		}
	}
}

func (s *Server) reply(ctx context.Context, conn net.PacketConn, to net.Addr, message []byte) {
	if b := s.Answer(ctx, message, mostPacket); b != nil {
		// Who cannot be answered asks again.
		_, _ = conn.WriteTo(b, to)
	}
}

// passes says whether the socket that gave err is to be tried again: a lack of descriptors or memory, which the program can bring about, must
// not end its name server. It waits a moment before that. Otherwise it gives the error to end with, nil for an end that was wished for.
func passes(ctx context.Context, err error) (again bool, end error) {
	if ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
		return false, nil
	}
	var temporary interface{ Temporary() bool }
	if !errors.As(err, &temporary) || !temporary.Temporary() {
		return false, err
	}
	select {
	case <-time.After(50 * time.Millisecond):
		return true, nil
	case <-ctx.Done():
		return false, nil
	}
}
