package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var sessionActions = []string{"list", "info", "reset", "close", "close_all", "interrupt", "pause", "resume"}

func (s *Server) sessionTool() *tool {
	p := properties{
		"action":  textProperty("list all, info on one, reset to a fresh box, close one, close_all that are at rest, interrupt what runs and keep the state, pause, resume.", "enum", sessionActions),
		"session": textProperty("The session's name; every action but list and close_all needs it.", "pattern", sessionPattern, "x-mcp-header", "Session"),
	}
	return &tool{name: "session", title: "Sessions", possible: s.sessions != nil, schema: schema(p, "action"), destructive: true,
		about: "Sessions keep variables, imports and files between calls. A run with session=NAME makes one; it ends when it is not used for a while.",
		run:   func(ctx context.Context, c *call) (*mcp.CallToolResult, error) { return s.runSessionTool(ctx, c) }}
}

func (s *Server) runSessionTool(ctx context.Context, c *call) (*mcp.CallToolResult, error) {
	a := readArguments(c.raw)
	action := a.word("action", "", sessionActions)
	id, _ := a.text("session", 64)
	if action == "" && len(a.problems) == 0 {
		a.problem("action: one of %s is needed", strings.Join(sessionActions, ", "))
	}
	switch {
	case action == "close_all" && id != "":
		a.problem("session: close_all is of all of them; close is of one")
	case action != "list" && action != "close_all" && !isSessionName(id) && len(a.problems) == 0:
		a.problem("session: a name is needed")
	}
	if err := a.end(); err != nil {
		return nil, err
	}
	var state SessionState
	var err error
	switch action {
	case "list":
		return s.sessionList(c.client), nil
	case "close_all":
		return s.closeSessions(ctx, c.client), nil
	case "info":
		state, err = s.sessions.Session(c.client, id)
	case "reset":
		state, err = s.sessions.Reset(ctx, c.client, id)
	case "pause":
		state, err = s.sessions.Pause(ctx, c.client, id)
	case "resume":
		state, err = s.sessions.Resume(ctx, c.client, id)
	case "interrupt":
		if err = s.sessions.Interrupt(ctx, c.client, id); err == nil {
			return s.say("[psb] interrupted; the state is kept", map[string]any{"session": id}), nil
		}
	case "close":
		if err = s.sessions.Close(ctx, c.client, id); err == nil {
			return s.say(fmt.Sprintf("[psb] session %s is closed; nothing of it is left", id), map[string]any{"session": id}), nil
		}
	}
	switch {
	case errors.Is(err, ErrNoSession):
		return s.refuse("no session %s", quote(id)), nil
	case errors.Is(err, ErrIdle):
		return s.refuse("nothing runs in session %s", quote(id)), nil
	case errors.Is(err, ErrLost), errors.Is(err, ErrNotMade):
		return s.refuse("session %s: %s", quote(id), err), nil
	case err != nil:
		return nil, err
	}
	return s.say(sessionLine(state), sessionRecord{state, milli(state.Idle.Seconds()), milli(state.Expires.Seconds())}), nil
}

func sessionLine(x SessionState) string {
	line := fmt.Sprintf("[psb] session %s: %s, generation %d, idle %.0f s, ends in %.0f s", x.ID, x.State, x.Generation, x.Idle.Seconds(), x.Expires.Seconds())
	if x.Lost {
		line += "; its state is gone"
		if x.Why != "" {
			line += ": " + clean(x.Why)
		}
	}
	return line
}

func (s *Server) sessionList(client string) *mcp.CallToolResult {
	list := []sessionRecord{}
	var lines []string
	for _, x := range s.sessions.Sessions(client) {
		list = append(list, sessionRecord{x, milli(x.Idle.Seconds()), milli(x.Expires.Seconds())})
		lines = append(lines, sessionLine(x))
	}
	if len(lines) == 0 {
		lines = []string{"no sessions"}
	}
	return s.say(strings.Join(lines, "\n"), map[string]any{"sessions": list})
}

// closeSessions ends what is at rest, and says which sessions are busy: those make it no success.
func (s *Server) closeSessions(ctx context.Context, client string) *mcp.CallToolResult {
	closed, busy := s.sessions.CloseAll(ctx, client)
	var lines []string
	if len(closed) > 0 {
		lines = append(lines, "[psb] sessions closed: "+strings.Join(closed, ", "))
	}
	if len(busy) > 0 {
		lines = append(lines, "[psb] busy, and left as they are: "+strings.Join(busy, ", ")+"; interrupt what runs, or close each by its name")
	}
	if len(lines) == 0 {
		lines = []string{"[psb] no sessions to close"}
	}
	r := s.say(strings.Join(lines, "\n"), map[string]any{"closed": append([]string{}, closed...), "busy": append([]string{}, busy...)})
	r.IsError = len(busy) > 0
	return r
}
