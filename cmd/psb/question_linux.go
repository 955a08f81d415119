// Does to the process: sets the terminal to lines for a moment, drops what was typed ahead, reads one line.
// Undone: the terminal is set back as it was.
// Preconditions: psb is in the terminal's foreground.
// Called by: asker_linux.go.
// Proved by: TestAskAnswers, TestAskTypedAhead, TestAskLegible.

package main

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// console is the terminal a person answers at, whatever the program's own descriptors are.
type console struct {
	*os.File
	legible string // makes what is written next be seen
}

// legible undoes what a program can have told a terminal that would hide or move a question: a scroll region of a line, no wrapping, hidden or
// same-coloured text, other letters.
const legible = "\x1b7\x1b[r\x1b8\x1b[?7h\x1b[0m\x1b(B\x0f"

// openConsole opens the terminal; term is its kind, as TERM says.
func openConsole(term string) (console, error) {
	f, err := os.OpenFile("/dev/tty", os.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if term == "" || term == "dumb" {
		return console{f, ""}, err
	}
	return console{f, legible}, err
}

// front: psb is in the terminal's foreground. In the background it may not read.
func (c console) front() bool {
	group, err := unix.IoctlGetInt(int(c.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// say writes one line of psb's.
func (c console) say(line string) { fmt.Fprintf(c, "psb: %s\n", plainLine(line)) }

// ask shows lines and gives the first letter of the answer, in lower case; 0 where there is none, or gone says that nobody waits for it any more.
func (c console) ask(lines []string, prompt string, gone func() bool) byte {
	fd := int(c.Fd())
	was, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return 0
	}
	t := *was
	t.Lflag |= unix.ICANON | unix.ECHO | unix.ECHOE | unix.ISIG
	t.Iflag |= unix.ICRNL
	t.Oflag |= unix.OPOST | unix.ONLCR
	t.Cc[unix.VSUSP] = 0                                   // nothing that is paused can be stopped once more
	if unix.IoctlSetTermios(fd, unix.TCSETSF, &t) != nil { // and what was typed before the question is no answer to it
		return 0
	}
	defer func() { _ = unix.IoctlSetTermios(fd, unix.TCSETSF, was) }()
	fmt.Fprint(c, c.legible)
	for _, l := range lines {
		c.say(l)
	}
	fmt.Fprintf(c, "psb: %s", plainLine(prompt))
	for !gone() {
		p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		if n, err := unix.Poll(p, 100); err != nil || n == 0 {
			continue
		}
		var b [256]byte
		n, err := unix.Read(fd, b[:])
		if err != nil || n == 0 {
			return 0
		}
		word := strings.ToLower(strings.TrimSpace(string(b[:n])))
		if word == "" {
			return 0
		}
		return word[0]
	}
	fmt.Fprintln(c)
	return 0
}
