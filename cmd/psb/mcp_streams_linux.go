// Does to the process: makes pipes, reads what a session's program prints, and writes to its standard input.
// Undone: they are closed at the box's end.
// Preconditions: none; a program that prints without end is ended.
// Called by: mcp_session_linux.go.
// Proved by: TestMCPSession*.

package main

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"psb/mcpserver"
)

// mostSearch is how long one search may take.
const mostSearch = 20 * time.Second

// sessionOutput is one output of a session's program. It is read by whoever holds boxSession.printed.
type sessionOutput struct {
	s      *boxSession
	stream mcpserver.Stream
	f      *os.File
	raw    syscall.RawConn
	buf    [32 << 10]byte
}

// newSessionOutput gives the program's end, too, which psb keeps: the pipe has no end before psb closes it.
func newSessionOutput(s *boxSession, stream mcpserver.Stream) (*sessionOutput, *os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	o := &sessionOutput{s: s, stream: stream, f: r}
	o.raw, err = r.SyscallConn()
	return o, w, err
}

// pump reads what comes until the pipe is closed.
func (o *sessionOutput) pump() {
	_ = o.raw.Read(func(fd uintptr) bool {
		for {
			o.s.printed.Lock()
			n := o.once(int(fd), len(o.buf))
			o.s.printed.Unlock()
			if n <= 0 {
				return n < 0
			}
		}
	})
}

// drain reads what is there now and no more.
func (o *sessionOutput) drain() {
	_ = o.raw.Control(func(fd uintptr) {
		left, err := unix.IoctlGetInt(int(fd), unix.TIOCINQ)
		for err == nil && left > 0 {
			n := o.once(int(fd), min(left, len(o.buf)))
			if n <= 0 {
				return
			}
			left -= n
		}
	})
}

// once reads once and tells it: 0 where nothing is there, -1 where nothing will be.
func (o *sessionOutput) once(fd, most int) int {
	for {
		n, err := unix.Read(fd, o.buf[:most])
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN):
			return 0
		case err != nil || n == 0:
			return -1
		}
		o.s.tell(o.stream, o.buf[:n])
		return n
	}
}

// tell passes on what an order prints; what is printed between two orders is nobody's.
func (s *boxSession) tell(stream mcpserver.Stream, b []byte) {
	s.mu.Lock()
	count, ask := &s.idle, 0
	if o := s.order; o != nil && o.given {
		count, ask = &o.count, o.ask
	}
	room := s.most - min(*count, s.most)
	*count += uint64(len(b))
	s.mu.Unlock()
	if uint64(len(b)) > room {
		b = b[:room]
		s.b.limits.hit("output")
	}
	if ask != 0 && len(b) > 0 {
		s.say(&sessionSay{ID: ask, Stream: stream, Printed: b})
	}
}

// feed writes to the order's standard input, and says when it is written: the server sends the next piece then.
func (s *boxSession) feed(ask *sessionAsk) {
	s.mu.Lock()
	var f *os.File
	if o := s.order; o != nil && o.ask == ask.Input.Of && !s.ended {
		f = o.input
	}
	s.mu.Unlock()
	err := error(os.ErrClosed)
	switch {
	case f == nil:
	case len(ask.Input.Bytes) > 0:
		_, err = f.Write(ask.Input.Bytes)
	default:
		err = f.Close() // both of its ends: whoever reads it finds the end
	}
	s.say(&sessionSay{ID: ask.ID, Wrong: errorText(err)})
}

// answer is what is asked of a session's files.
func (w *workspace) answer(ask *fileAsk) *fileSay {
	var err error
	say := &fileSay{}
	switch ask.Do {
	case "read":
		say.Content, err = w.read(ask.Path, ask.Offset, ask.Limit)
	case "write":
		say.Content.FileInfo, err = w.write(ask.Path, ask.Content, ask.How)
	case "find":
		ctx, cancel := context.WithTimeout(context.Background(), mostSearch)
		defer cancel()
		if say.Found, err = w.find(ctx, ask.Path, ask.Query); ctx.Err() != nil {
			err = mcpserver.FileError("the search took too long; begin in a folder below, or set depth")
		}
	default:
		say.Content.FileInfo, err = w.manage(ask.Path, ask.Act)
	}
	var wrong mcpserver.FileError
	if say.Wrong = errorText(err); errors.As(err, &wrong) {
		say.File = true
	}
	return say
}
