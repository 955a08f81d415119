package mcpserver

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// soonDone is how long a client that takes tasks waits for a plain result before it is given a task instead.
const soonDone = 10 * time.Second

// runAsTask runs a request as a task of its own: it goes on when the request is over. A client that asked for the background gets the task at
// once. One that understands the protocol's tasks gets the result where it comes soon, and else the task.
func (s *Server) runAsTask(ctx context.Context, c *call, q *asked) (*mcp.CallToolResult, error) {
	use, away := s.gate.admit(c.client)
	if away != nil {
		return nil, away
	}
	t, inside, away := s.tasks.begin(c.client, c.tool.name)
	if away != nil {
		s.gate.gone(use)
		return nil, away
	}
	q.Output = func(_ Stream, b []byte) { t.log.add(b) }
	if q.background {
		if q.Stdin != nil {
			given, _ := io.ReadAll(q.Stdin) // a string
			t.feed.send(given)
		}
		q.Stdin = t.feed
	}
	go s.work(inside, t, use, q)
	switch {
	case q.background && takesTasks(c.req):
		return nil, &taskMade{t}
	case q.background:
		return s.taskStarted(t), nil
	}
	stop := s.beating(ctx, c.req, func() string { return fmt.Sprintf("%d bytes printed", t.log.size()) }, nil)
	defer stop()
	soon := time.NewTimer(soonDone)
	defer soon.Stop()
	select {
	case <-t.done:
		s.tasks.drop(t)
		_, r, _, err := t.state()
		return r, err
	case <-ctx.Done():
		t.cancel()
		<-t.done
		s.tasks.drop(t)
		return nil, ctx.Err()
	case <-soon.C:
		return nil, &taskMade{t}
	}
}

// work is what a task does.
func (s *Server) work(ctx context.Context, t *task, use *clientUse, q *asked) {
	begin := s.options.Now()
	leave, err := s.gate.await(ctx, use)
	if err != nil {
		if away, ok := err.(*turnedAway); ok {
			t.finish(taskCompleted, s.told(&Result{ID: q.ID, Status: Busy, Reason: away.words, Hint: away.hint, Retry: away.retry, Cleanup: Cleanup{State: NotAttempted}}), nil, s.options.Now())
			return
		}
		t.finish(taskCancelled, nil, err, s.options.Now())
		return
	}
	r, err := s.runOnce(ctx, q)
	leave()
	status := taskCompleted
	switch {
	case ctx.Err() != nil:
		status = taskCancelled
	case err != nil:
		status = taskFailed
	}
	s.metrics.called("task", statusOf(r, err), s.options.Now().Sub(begin))
	t.finish(status, r, err, s.options.Now())
}

// taskMade is the answer "it goes on as a task", for clients that know what that is.
type taskMade struct{ *task }

func (t *taskMade) Error() string { return "it goes on as task " + t.id }

// taskStarted is the same for all others.
func (s *Server) taskStarted(t *task) *mcp.CallToolResult {
	return s.say(fmt.Sprintf("[psb] task %s was started. Ask with the tool task: action=wait, status, logs, send or cancel, task=%s.", t.id, t.id), s.taskData(t))
}

// taskData is a task for machines.
func (s *Server) taskData(t *task) map[string]any {
	status, _, updated, _ := t.state()
	end := updated
	if status == taskWorking {
		end = s.options.Now()
	}
	return map[string]any{"task": t.id, "tool": t.what, "status": status, "created": t.created.UTC().Format(time.RFC3339), "seconds": milli(end.Sub(t.created).Seconds()), "printed_bytes": t.log.size()}
}
