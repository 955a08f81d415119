package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// mostWait is how long action=wait waits at most, in seconds: below the time at which clients give up.
const mostWait = 50

func (s *Server) taskTool() *tool {
	p := properties{
		"action":    textProperty("status, wait for the end, logs, send to standard input, cancel, or list all tasks.", "enum", taskActions),
		"task":      textProperty("The task's id; every action but list needs it."),
		"timeout_s": property("number", "wait: how long at most.", "default", 30, "maximum", mostWait, "minimum", 0),
		"cursor":    property("integer", "logs: from this byte on; the answer names the next.", "default", 0, "minimum", 0),
		"tail":      property("integer", "logs: the last so many lines instead.", "minimum", 1, "maximum", 10_000),
		"text":      textProperty("send: what the code reads.", "maxLength", mostFeed),
		"close":     property("boolean", "send: then end standard input.", "default", false),
	}
	return &tool{name: "task", title: "Background tasks", possible: true, schema: schema(p, "action"),
		about: "Runs begun with background=true: their status, output so far, result and end.",
		run:   func(ctx context.Context, c *call) (*mcp.CallToolResult, error) { return s.runTaskTool(ctx, c) }}
}

var taskActions = []string{"status", "wait", "logs", "send", "cancel", "list"}

func (s *Server) runTaskTool(ctx context.Context, c *call) (*mcp.CallToolResult, error) {
	a := readArguments(c.raw)
	action := a.word("action", "", taskActions)
	id, _ := a.text("task", 128, "task_id", "id")
	wait, _ := a.number("timeout_s", 30, 0, mostWait)
	cursor, _ := a.whole("cursor", 0, 0, 1<<53)
	tail, tailed := a.whole("tail", 0, 1, 10_000)
	text, _ := a.text("text", mostFeed)
	end := a.flag("close", false)
	if action == "" && len(a.problems) == 0 {
		a.problem("action: one of %s is needed", strings.Join(taskActions, ", "))
	}
	if action != "list" && id == "" && len(a.problems) == 0 {
		a.problem("task: the id is needed")
	}
	if err := a.end(); err != nil {
		return nil, err
	}
	if action == "list" {
		return s.taskList(c.client), nil
	}
	t, ok := s.tasks.get(c.client, id)
	if !ok {
		return s.refuse("no task %s: it never was, belongs to somebody else, or was over for longer than %v", quote(id), s.options.TaskTTL), nil
	}
	switch action {
	case "wait":
		return s.taskWait(ctx, c, t, time.Duration(wait*float64(time.Second)))
	case "logs":
		return s.taskLogs(t, cursor, tail, tailed), nil
	case "send":
		return s.taskSend(t, text, end), nil
	case "cancel":
		return s.taskCancel(t), nil
	}
	return s.taskStatus(t), nil
}

func (s *Server) taskList(client string) *mcp.CallToolResult {
	list := []map[string]any{}
	var b strings.Builder
	for _, t := range s.tasks.list(client) {
		d := s.taskData(t)
		list = append(list, d)
		fmt.Fprintf(&b, "%s %s, %s, %v s\n", t.id, t.what, d["status"], d["seconds"])
	}
	if len(list) == 0 {
		b.WriteString("no tasks")
	}
	return s.say(strings.TrimSpace(b.String()), map[string]any{"tasks": list})
}

func (s *Server) taskStatus(t *task) *mcp.CallToolResult {
	d := s.taskData(t)
	more := ""
	if d["status"] != taskWorking {
		more = "; action=wait gives its result"
	}
	return s.say(fmt.Sprintf("[psb] task %s: %s, %v s, %d bytes printed%s", t.id, d["status"], d["seconds"], d["printed_bytes"], more), d)
}

func (s *Server) taskWait(ctx context.Context, c *call, t *task, most time.Duration) (*mcp.CallToolResult, error) {
	stop := s.beating(ctx, c.req, func() string { return fmt.Sprintf("%d bytes printed", t.log.size()) }, nil)
	defer stop()
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-t.done:
	case <-timer.C:
		return s.taskStatus(t), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	switch status, r, _, err := t.state(); {
	case r != nil:
		return r, nil
	case status == taskCancelled:
		return s.told(&Result{Status: Cancelled, Reason: "the task was cancelled", Cleanup: Cleanup{State: Removed}}), nil
	default:
		return s.told(&Result{Status: Internal, Reason: fmt.Sprint(err), Cleanup: Cleanup{State: NotKnown}}), nil
	}
}

func (s *Server) taskLogs(t *task, cursor, tail int64, tailed bool) *mcp.CallToolResult {
	d, over := s.taskData(t), t.over() // before the text: a task that is over then has printed all of it
	var text []byte
	var next, evicted int64
	if tailed {
		text, next = t.log.tail(int(tail), int(s.offer.Ceilings.Output.Default))
	} else {
		text, next, evicted = t.log.from(cursor, int(s.offer.Ceilings.Output.Default), over)
	}
	line := fmt.Sprintf("[psb] task %s: %s; next cursor %d", t.id, d["status"], next)
	if evicted > 0 {
		line += fmt.Sprintf("; %d bytes before these are gone", evicted)
	}
	d["next_cursor"], d["evicted_bytes"] = next, evicted
	if s.options.Structured {
		d["text"] = clean(string(text))
	}
	r := s.say(voiced(string(text)), d)
	r.Content = append(r.Content, &mcp.TextContent{Text: line})
	return r
}

func (s *Server) taskSend(t *task, text string, end bool) *mcp.CallToolResult {
	if t.over() {
		return s.refuse("task %s is over", t.id)
	}
	if text != "" && !t.feed.send([]byte(text)) {
		return s.refuse("its standard input is closed, or %d bytes of it were not read yet", mostFeed)
	}
	if end {
		t.feed.close()
	}
	return s.say(fmt.Sprintf("[psb] sent %d bytes", len(text)), s.taskData(t))
}

func (s *Server) taskCancel(t *task) *mcp.CallToolResult {
	if t.over() {
		return s.refuse("task %s is over already", t.id)
	}
	t.cancel()
	<-t.done // the box is gone
	return s.taskStatus(t)
}

// resultSchema is the form of structured results.
func resultSchema() json.RawMessage {
	return json.RawMessage(`{"type":"object","required":["schema_version","status","exit","cleanup"],"properties":{` +
		`"schema_version":{"type":"integer"},"run_id":{"type":"string"},"status":{"enum":["ok","error","timeout","killed","cancelled","busy","refused","internal"]},` +
		`"reason":{"type":"string"},"hint":{"type":"string"},"retry_after_s":{"type":"number"},"wall_s":{"type":"number"},"approval":{"type":"string"},` +
		`"exit":{"type":"object","properties":{"code":{"type":["integer","null"]},"signal":{"type":"string"},"reason":{"type":"string"}}},` +
		`"limits":{"type":"array","items":{"type":"object"}},"denials":{"type":"array","items":{"type":"object"}},` +
		`"cleanup":{"type":"object","properties":{"state":{"type":"string"},"left":{"type":"array","items":{"type":"string"}}}},` +
		`"session":{"type":"object"},"files":{"type":"array","items":{"type":"object"}},"delivery":{"type":"array","items":{"type":"object"}},` +
		`"receipt":{"type":"object"},"program":{"type":"object","description":"What the program said. Not trusted."}}}`)
}
