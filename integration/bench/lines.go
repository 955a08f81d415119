package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"sync"
	"time"
)

// lines is a client of a program that takes requests and gives answers, each a line of JSON with an id of its own.
type lines struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	mu   sync.Mutex
	next int
	wait map[int]chan json.RawMessage
}

func startLines(cmd *exec.Cmd) (*lines, error) {
	l := &lines{cmd: cmd, wait: map[int]chan json.RawMessage{0: make(chan json.RawMessage, 1)}} // 0: what it says unasked
	var err error
	if l.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go l.read(out)
	return l, nil
}

func (l *lines) read(out io.Reader) {
	all := bufio.NewReaderSize(out, 1<<20)
	for {
		line, err := all.ReadBytes('\n')
		var m struct{ ID int }
		if err == nil {
			err = json.Unmarshal(line, &m)
		}
		l.mu.Lock()
		for id, ch := range l.wait {
			switch {
			case err != nil:
				close(ch)
				delete(l.wait, id)
			case id == m.ID:
				ch <- line
				delete(l.wait, id)
			}
		}
		l.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// ask sends the request that is made for an id, and gives the answer and the milliseconds until all of it was there.
func (l *lines) ask(request func(id int) any) (json.RawMessage, float64, error) {
	l.mu.Lock()
	l.next++
	ch := make(chan json.RawMessage, 1)
	l.wait[l.next] = ch
	text, err := json.Marshal(request(l.next))
	begin := time.Now()
	if err == nil {
		_, err = l.in.Write(append(text, '\n'))
	}
	l.mu.Unlock()
	if err != nil {
		return nil, 0, err
	}
	line, ok := <-ch
	took := time.Since(begin)
	if !ok {
		return nil, 0, errors.New(l.cmd.Path + " ended")
	}
	return line, float64(took.Microseconds()) / 1000, nil
}

// unasked waits for what the program says by itself when it is ready.
func (l *lines) unasked() (json.RawMessage, error) {
	l.mu.Lock()
	ch := l.wait[0]
	l.mu.Unlock()
	if line, ok := <-ch; ok {
		return line, nil
	}
	return nil, errors.New(l.cmd.Path + " ended")
}

func (l *lines) end() {
	l.in.Close()
	_ = l.cmd.Wait()
}
