package mcpserver

import (
	"bytes"
	"context"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// States of a task, in the words of the protocol's extension.
const (
	taskWorking   = "working"
	taskCompleted = "completed" // the run is over, however it ended
	taskFailed    = "failed"    // psb could not answer
	taskCancelled = "cancelled"
)

// taskStore keeps the runs that outlive the request they came with. A task is known to the client it belongs to alone; one that is over is kept
// for its time, or until its client begins more than may be kept.
type taskStore struct {
	base context.Context
	o    *Options
	mu   sync.Mutex
	byID map[string]*task
}

type task struct {
	id, client, what string
	created          time.Time
	cancel           context.CancelFunc
	done             chan struct{}
	log              taskLog
	feed             *feed

	mu      sync.Mutex
	status  string
	updated time.Time
	result  *mcp.CallToolResult
	err     error
}

func newTaskStore(base context.Context, o *Options) *taskStore {
	return &taskStore{base: base, o: o, byID: map[string]*task{}}
}

// begin makes a task, whose work gets the returned context.
func (s *taskStore) begin(client, what string) (*task, context.Context, *turnedAway) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep()
	mine := s.of(client)
	for len(mine) >= s.o.TasksEach {
		i := slices.IndexFunc(mine, (*task).over)
		if i < 0 {
			return nil, nil, &turnedAway{"tasks", "too many tasks of this client are going on", "cancel one, or wait for its end", 5 * time.Second}
		}
		delete(s.byID, mine[i].id)
		mine = slices.Delete(mine, i, i+1)
	}
	ctx, cancel := context.WithCancel(s.base)
	now := s.o.Now()
	t := &task{id: newID(), client: client, what: what, created: now, updated: now, cancel: cancel, done: make(chan struct{}), status: taskWorking, feed: newFeed()}
	s.byID[t.id] = t
	return t, ctx, nil
}

// of lists a client's tasks, oldest first. The lock is held.
func (s *taskStore) of(client string) []*task {
	var out []*task
	for _, t := range s.byID {
		if t.client == client {
			out = append(out, t)
		}
	}
	slices.SortFunc(out, func(a, b *task) int {
		if c := a.created.Compare(b.created); c != 0 {
			return c
		}
		return slices.Compare([]byte(a.id), []byte(b.id))
	})
	return out
}

func (s *taskStore) list(client string) []*task {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep()
	return s.of(client)
}

func (s *taskStore) get(client, id string) (*task, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep()
	t := s.byID[id]
	if t == nil || t.client != client {
		return nil, false
	}
	return t, true
}

// drop forgets a task, whose answer was given already.
func (s *taskStore) drop(t *task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byID, t.id)
}

func (s *taskStore) sweep() {
	now := s.o.Now()
	for id, t := range s.byID {
		if over, since := t.overSince(); over && now.Sub(since) > s.o.TaskTTL {
			delete(s.byID, id)
		}
	}
}

func (s *taskStore) count() (working int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.byID {
		if !t.over() {
			working++
		}
	}
	return working
}

// finish notes how a task ended; what ended already stays as it is.
func (t *task) finish(status string, r *mcp.CallToolResult, err error, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.status != taskWorking {
		return
	}
	t.status, t.result, t.err, t.updated = status, r, err, now
	t.feed.close()
	close(t.done)
	t.cancel()
}

func (t *task) over() bool { over, _ := t.overSince(); return over }

func (t *task) overSince() (bool, time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.status != taskWorking, t.updated
}

func (t *task) state() (status string, r *mcp.CallToolResult, updated time.Time, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.status, t.result, t.updated, t.err
}

// taskLog holds what a task printed, both streams in the order they came, by position from the first byte on. The oldest is let go.
type taskLog struct {
	mu    sync.Mutex
	bytes []byte
	gone  int64
}

const mostLog = 1 << 20

func (l *taskLog) add(b []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.bytes = append(l.bytes, b...); len(l.bytes) > 2*mostLog {
		drop := len(l.bytes) - mostLog
		l.bytes, l.gone = slices.Clone(l.bytes[drop:]), l.gone+int64(drop)
	}
}

// from gives at most n bytes from a position on, whole characters and line ends, the position after them, and how many bytes before them are gone.
// What the rest of may still come is left for the next time.
func (l *taskLog) from(at int64, n int, over bool) (text []byte, next, evicted int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at < l.gone {
		evicted, at = l.gone-at, l.gone
	}
	at = min(at, l.gone+int64(len(l.bytes)))
	b := l.bytes[at-l.gone:]
	if rest := b[min(n, len(b)):]; len(rest) > 0 || !over {
		b = wholeCharacters(b[:len(b)-len(rest)])
		if len(b) > 0 && b[len(b)-1] == '\r' && (len(rest) == 0 || rest[0] == '\n') {
			b = b[:len(b)-1]
		}
	}
	return slices.Clone(b), at + int64(len(b)), evicted
}

// wholeCharacters leaves out the beginning of a character that stands at the end.
func wholeCharacters(b []byte) []byte {
	for i := 1; i < utf8.UTFMax && i <= len(b); i++ {
		if utf8.RuneStart(b[len(b)-i]) {
			if !utf8.FullRune(b[len(b)-i:]) {
				return b[:len(b)-i]
			}
			break
		}
	}
	return b
}

// tail gives the last lines.
func (l *taskLog) tail(lines, n int) (text []byte, next int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := len(bytes.TrimSuffix(l.bytes, []byte("\n")))
	for i := 0; i < lines && at >= 0; i++ {
		at = bytes.LastIndexByte(l.bytes[:at], '\n')
	}
	return slices.Clone(cutTail(l.bytes[at+1:], n)), l.gone + int64(len(l.bytes))
}

func (l *taskLog) size() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.gone + int64(len(l.bytes))
}
