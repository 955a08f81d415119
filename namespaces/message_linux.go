// Does to the process: reads and writes the messages between psb and the stages.
// Undone: nothing to undo.
// Preconditions: the descriptor is one end of a stage's socket pair.
// Called by: box_linux.go, start_linux.go.
// Proved by: TestStageErrors, TestExitStatus.

package namespaces

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Message kinds, see stage2_linux.h.
const (
	msgError = iota + 1
	msgReady
	msgListener
	msgStopped
	msgContinued
	msgExit
	msgBox
	msgNet
	msgSocket
	msgPaused
	msgUpper
)

const (
	msgGo = iota + 16
	msgTaken
	msgSignal
	msgAlive // psb got the program's end and removes the groups itself
	msgMake
	msgPause
	msgResume
)

const messageSize = 256

// receive reads one message; io.EOF when every other holder of the end is gone. aside is what came with it: the sender's credentials where
// the socket asks for them, descriptors.
func receive(fd int) (m [messageSize]byte, aside []unix.SocketControlMessage, err error) {
	var oob [128]byte
	for {
		n, oobn, flags, _, err := unix.Recvmsg(fd, m[:], oob[:], unix.MSG_CMSG_CLOEXEC)
		switch {
		case err == unix.EINTR:
			continue
		case err == unix.ECONNRESET: // it went with messages of ours unread
			return m, nil, io.EOF
		case err != nil:
			return m, nil, fmt.Errorf("recvmsg: %w", err)
		case n == 0:
			return m, nil, io.EOF
		case n != messageSize || flags&(unix.MSG_TRUNC|unix.MSG_CTRUNC) != 0:
			return m, nil, fmt.Errorf("BUG: a message of %d bytes, flags %#x", n, flags)
		}
		aside, err := unix.ParseSocketControlMessage(oob[:oobn])
		return m, aside, err
	}
}

// sender is the pid, in our namespace, of the process that sent a message.
func sender(aside []unix.SocketControlMessage) (int, error) {
	for i := range aside {
		if cred, err := unix.ParseUnixCredentials(&aside[i]); err == nil && cred.Pid > 0 {
			return int(cred.Pid), nil
		}
	}
	return 0, errors.New("a message without its sender's id")
}

// passed are the descriptors that came with a message.
func passed(aside []unix.SocketControlMessage) (all []int) {
	for i := range aside {
		if fds, err := unix.ParseUnixRights(&aside[i]); err == nil {
			all = append(all, fds...)
		}
	}
	return all
}

// descriptor is the one descriptor that came with a message, -1 when there is none.
func descriptor(aside []unix.SocketControlMessage) int {
	all := passed(aside)
	if len(all) == 0 {
		return -1
	}
	for _, extra := range all[1:] {
		unix.Close(extra)
	}
	return all[0]
}

func send(fd int, kind, a, flags int) error { return sendTwo(fd, kind, a, 0, flags) }

func sendTwo(fd int, kind, a, b, flags int) error {
	var m [messageSize]byte
	binary.NativeEndian.PutUint32(m[0:], uint32(kind))
	binary.NativeEndian.PutUint32(m[4:], uint32(a))
	binary.NativeEndian.PutUint32(m[8:], uint32(b))
	for {
		if err := unix.Sendto(fd, m[:], unix.MSG_NOSIGNAL|flags, nil); err != unix.EINTR {
			return err
		}
	}
}

func kindOf(m *[messageSize]byte) int   { return int(binary.NativeEndian.Uint32(m[0:])) }
func number(m *[messageSize]byte) int32 { return int32(binary.NativeEndian.Uint32(m[4:])) }

func stageError(m *[messageSize]byte) *StageError {
	text := m[40:]
	for i, c := range text {
		if c == 0 {
			text = text[:i]
			break
		}
	}
	stage, cause, _ := strings.Cut(visible(string(text)), ": ")
	return &StageError{Stage: stage, Cause: cause, Errno: syscall.Errno(number(m))}
}

// visible writes what a terminal would take as a command, and what is no text at all, as Go would in quotes: paths are anybody's.
func visible(s string) string {
	q := strconv.Quote(s)
	return strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`)
}
