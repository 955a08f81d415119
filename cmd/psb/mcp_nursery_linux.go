// Does to the process: takes descriptors from psb mcp and runs a box behind each set of them, beside each other, until nobody asks for more.
// Undone: its boxes are gone when it ends, whichever way it ends.
// Preconditions: started by psb mcp, under boxName: descriptor 3 is the socket that the ends of each box's pipes come by.
// Called by: main.go.
// Proved by: TestMCPNursery*, TestMCPLimits, TestMCPVerdictIsNotThePrograms, TestMCPGone.

package main

import (
	"encoding/json"
	"errors"
	"net"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// boxName is the name under which psb makes boxes for psb mcp.
const boxName = "psb-box"

// wayFD is the socket to psb mcp.
const wayFD = 3

// What comes with each message: the ends of a box's pipes, in this order.
const (
	orderEnd = iota // brings the order, then the call
	wordsEnd        // takes words, the verdict among them
	lifeEnd         // hangs up when the box is to end
	stdinEnd        // the program's own
	stdoutEnd
	stderrEnd
	allEnds
)

var notByHand = &usageError{"this name is psb mcp's own", "psb --help"}

// boxRun is the psb behind boxes of one kind. They share what was worked out for them, and this process; a box has pipes, groups and a verdict of its
// own.
func boxRun(w *world) (int, error) {
	unix.CloseOnExec(wayFD)
	file := os.NewFile(wayFD, "boxes")
	conn, err := net.FileConn(file)
	file.Close()
	way, ok := conn.(*net.UnixConn)
	if err != nil || !ok {
		return exitRefused, notByHand
	}
	m := &boxMaker{w: w, plans: map[string]*plannedBox{}}
	var going sync.WaitGroup
	for {
		ends, err := takeEnds(way)
		if err != nil {
			break
		}
		going.Go(func() { m.run(ends) })
	}
	going.Wait()
	return 0, nil
}

// takeEnds gives the ends of the next box's pipes; an error says that no more come. All of them close at an exec.
func takeEnds(way *net.UnixConn) ([]int, error) {
	var one [1]byte
	room := make([]byte, unix.CmsgSpace(4*allEnds))
	for {
		n, m, _, _, err := way.ReadMsgUnix(one[:], room) // MSG_CMSG_CLOEXEC is its own
		if err != nil {
			return nil, err
		}
		if n == 0 {
			return nil, net.ErrClosed
		}
		ends, err := descriptorsOf(room[:m])
		if err == nil && len(ends) == allEnds {
			return ends, nil
		}
		for _, fd := range ends {
			unix.Close(fd)
		}
	}
}

func descriptorsOf(room []byte) (list []int, err error) {
	messages, err := unix.ParseSocketControlMessage(room)
	for i := range messages {
		rights, wrong := unix.ParseUnixRights(&messages[i])
		list, err = append(list, rights...), errors.Join(err, wrong)
	}
	return list, err
}

// run runs one box: order → plan → launch → call → look → verdict.
func (m *boxMaker) run(ends []int) {
	for _, i := range []int{orderEnd, wordsEnd, lifeEnd} {
		_ = unix.SetNonblock(ends[i], true) // so that a wait ends when the file is closed, and holds no thread; at worst it does
	}
	link := &boxLink{file: os.NewFile(uintptr(ends[orderEnd]), "order"), life: os.NewFile(uintptr(ends[lifeEnd]), "life")}
	words := os.NewFile(uintptr(ends[wordsEnd]), "words")
	stdio := [3]*os.File{os.NewFile(uintptr(ends[stdinEnd]), "stdin"), os.NewFile(uintptr(ends[stdoutEnd]), "stdout"), os.NewFile(uintptr(ends[stderrEnd]), "stderr")}
	defer closeAll([]*os.File{link.file, link.life, words})
	link.orders, link.answers = json.NewDecoder(link.file), json.NewEncoder(words)
	var o boxOrder
	if err := link.orders.Decode(&o); err != nil {
		closeAll(stdio[:])
		return // the server is gone
	}
	v, leave := m.runBox(&o, link, stdio)
	defer leave()
	closeAll(stdio[:])                           // nothing more is printed: the server need not wait for anything else to know it
	_ = link.answers.Encode(boxWord{Verdict: v}) // a server that is gone needs none
}
