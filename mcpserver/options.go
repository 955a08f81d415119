package mcpserver

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Options are the operator's. The zero value of a field means what its comment says.
type Options struct {
	Version    string   // psb's
	Tools      []string // to offer; nil = [DefaultTools]
	Structured bool     // results carry structuredContent, too
	Ask        Asking   // a person is asked before code runs

	Slots         int           // runs at once; 0 = twice the processors
	Queue         int           // calls that wait for a slot; 0 = twice the slots, below 0 = none
	QueueWait     time.Duration // for so long; 0 = 20 s
	PerClient     int           // calls of one client running or waiting; 0 = no bound
	RatePerMinute float64       // calls that one client may begin; 0 = no bound
	Quota         int64         // calls of one client in all; 0 = no bound
	Heartbeat     time.Duration // between two progress notifications; 0 = 5 s
	TaskTTL       time.Duration // a task that is over is kept for so long; 0 = 30 min
	TasksEach     int           // tasks of one client that are kept; 0 = 32
	MaxMessage    int           // bytes of one message from a client; 0 = 16 MiB
	StallAfter    time.Duration // a client that reads nothing for so long is dropped; 0 = 60 s

	// Say, if set, takes a line for the operator that no client hears.
	Say func(line string)
	// Extra, if set, adds to the SDK's server before it serves. Tests put their own tools there.
	Extra *Extra
	// Now is the clock; nil = time.Now.
	Now func() time.Time
}

// DefaultTools are offered where the operator names none, as far as the Runner can do them.
var DefaultTools = []string{"run_python", "run_shell", "session", "task", "file_read", "file_write", "file_edit", "file_find", "file_manage", "describe"}

func (o *Options) fill() error {
	if o.Tools == nil {
		o.Tools = DefaultTools
	}
	for _, t := range o.Tools {
		if !slices.Contains(DefaultTools, t) {
			return fmt.Errorf("no tool %q: known are %s", t, strings.Join(DefaultTools, ", "))
		}
	}
	if o.Ask != AskNobody && o.Ask != AskOrNot && o.Ask != AskAlways {
		return fmt.Errorf("no way of asking %q: %s or %s", o.Ask, AskAlways, AskOrNot)
	}
	if o.Slots <= 0 {
		o.Slots = 2 * runtime.NumCPU()
	}
	switch {
	case o.Queue == 0:
		o.Queue = 2 * o.Slots
	case o.Queue < 0:
		o.Queue = 0
	}
	for _, d := range []struct {
		at   *time.Duration
		most time.Duration
	}{{&o.QueueWait, 20 * time.Second}, {&o.Heartbeat, 5 * time.Second}, {&o.TaskTTL, 30 * time.Minute}, {&o.StallAfter, time.Minute}} {
		if *d.at <= 0 {
			*d.at = d.most
		}
	}
	if o.TasksEach <= 0 {
		o.TasksEach = 32
	}
	if o.MaxMessage <= 0 {
		o.MaxMessage = 16 << 20
	}
	if o.Say == nil {
		o.Say = func(string) {}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return nil
}
