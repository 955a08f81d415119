package names

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"time"
)

const (
	mostStream      = 65535 // bytes of an answer by TCP
	mostConnections = 32
	mostPipelined   = 16 // questions of one connection that wait for the host at the same time

	// idle is how long a connection may take for the next whole question, or for taking an answer. It is longer than patience: who waits for
	// an answer has nothing to send.
	idle = 20 * time.Second
)

// ServeStream answers on the connections of a TCP listener, which it closes in the end, with them. Of more connections than 32 at a time the
// surplus is closed at once. It gives nil once the listener is closed or ctx has ended, and leaves no goroutine behind.
func (s *Server) ServeStream(ctx context.Context, listener net.Listener) error {
	var underway sync.WaitGroup
	defer underway.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer listener.Close()
	defer context.AfterFunc(ctx, func() { listener.Close() })()

	places := make(chan struct{}, mostConnections)
	for {
		conn, err := listener.Accept()
		if err != nil {
			if again, err := passes(ctx, err); !again {
				return err
			}
			continue
		}
		select {
		case places <- struct{}{}:
			underway.Go(func() {
				defer func() { <-places }()
				s.converse(ctx, conn)
			})
		default:
			conn.Close()
		}
	}
}

// converse answers the questions of one connection as their answers come, not in their order (RFC 7766, 6.2.1.1).
func (s *Server) converse(ctx context.Context, conn net.Conn) {
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	var underway sync.WaitGroup
	places := make(chan struct{}, mostPipelined)
	turn := make(chan struct{}, 1) // to write; a mutex would do, but not stop the clock of a test
	for {
		message, err := receive(conn)
		if err != nil {
			break
		}
		places <- struct{}{}
		underway.Go(func() {
			defer func() { <-places }()
			answer := s.Answer(ctx, message, mostStream)
			if answer == nil {
				return
			}
			turn <- struct{}{}
			defer func() { <-turn }()
			if send(conn, answer) != nil {
				conn.Close() // so that no other answer waits for one who does not read
			}
		})
	}
	underway.Wait() // one who has said that no more questions come still gets the answers
}

// receive reads one message behind its length. A connection that sends a longer one than a question can be is not listened to further.
func receive(conn net.Conn) ([]byte, error) {
	if err := conn.SetReadDeadline(time.Now().Add(idle)); err != nil {
		return nil, err
	}
	var length [2]byte
	if _, err := io.ReadFull(conn, length[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint16(length[:])
	if n > mostQuery {
		return nil, io.ErrShortBuffer
	}
	message := make([]byte, n)
	_, err := io.ReadFull(conn, message)
	return message, err
}

// send writes one message and its length at once, as some clients read only once.
func send(conn net.Conn, message []byte) error {
	if err := conn.SetWriteDeadline(time.Now().Add(idle)); err != nil {
		return err
	}
	_, err := conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(message))), message...))
	return err
}
