package main

import (
	"encoding/json"
	"errors"
	"io"
	"strconv"

	"psb/pythonshim/call"
)

// errNonsense: a psb behind a box said something that its kind never says.
var errNonsense = errors.New("words that no psb says")

// hear takes what the psb behind a box says, until its verdict. That psb stands between a program and the server: were it the program's own by now,
// its words would still harm no call but its own.
func (p *boxProcess) hear(from io.Reader) error {
	bound := &io.LimitedReader{R: from}
	words := json.NewDecoder(bound)
	for p.verdict == nil {
		var w boxWord
		bound.N = mostVerdict // of each word
		if err := words.Decode(&w); err != nil {
			return err
		}
		switch {
		case w.Ready != nil && isClosed(p.ready), w.Begun && isClosed(p.begun), w.Say != nil && p.say == nil:
			return errNonsense
		case w.Ready != nil:
			p.failed, p.doubt = w.Ready.Failed, w.Ready.Doubt
			close(p.ready)
		case w.Begun:
			close(p.begun)
		case w.Say != nil:
			p.say(w.Say)
		}
		p.verdict = w.Verdict
	}
	return nil
}

// orderWord is what a line of a session's program, in its words, means for an order: that it has begun, or that it is over, and with which status. Anything
// else means nothing.
func orderWord(f []string, id string) (word string, status int, ok bool) {
	switch {
	case len(f) == 2 && f[0] == call.OpenWord && f[1] == id:
		return f[0], 0, true
	case len(f) == 3 && f[0] == call.OverWord && f[1] == id:
		n, err := strconv.ParseUint(f[2], 10, 8)
		return f[0], int(n), err == nil
	}
	return "", 0, false
}
