package integration

import (
	"encoding/json"
	"testing"
)

// asked sends a call of run_shell as a client that can ask; more stands beside its arguments.
func (a *agent) asked(command string, more map[string]any) (r ran, state, message string) {
	a.t.Helper()
	params := map[string]any{"name": "run_shell", "arguments": map[string]any{"command": command, "session": "w"}}
	for k, v := range more {
		params[k] = v
	}
	a.elicits = true
	got := a.ask("tools/call", params)
	a.elicits = false
	var q struct {
		ResultType, RequestState string
		InputRequests            map[string]struct {
			Method string
			Params struct{ Mode, Message string }
		}
	}
	must(a.t, json.Unmarshal(got.Result, &q))
	if one := q.InputRequests["run"]; q.ResultType == "input_required" && one.Method == "elicitation/create" && one.Params.Mode == "form" {
		return a.result(got), q.RequestState, one.Params.Message
	}
	return a.result(got), "", ""
}

// TestMCPAsking: nothing of a call happens before the person said yes, and nothing at all after a no: no box, no session, no file.
func TestMCPAsking(t *testing.T) {
	s := newScene(t, people()[len(people())-1])
	a := s.agent(t, "--ask", "--cold")
	const command = "echo ran >>ran; cat ran"
	answer := func(action, state string) map[string]any {
		return map[string]any{"requestState": state, "inputResponses": map[string]any{"run": map[string]any{"action": action, "content": map[string]any{}}}}
	}
	for _, action := range []string{"decline", "cancel"} {
		_, state, message := a.asked(command, nil)
		if want := "Run this shell command in a psb sandbox?\nsession: w\ntime: at most 30.000 s\n\n" + command; message != want {
			t.Errorf("asked %q, want %q", message, want)
		}
		r, _, _ := a.asked(command, answer(action, state))
		r.want(t, "refused", "the person who was asked", "nothing ran")
		if got := a.listed(); got != "" {
			t.Errorf("sessions after it was refused: %s", got)
		}
	}
	a.python("1").want(t, "refused", "this client cannot ask")
	_, state, _ := a.asked(command, nil)
	r, _, _ := a.asked(command, answer("accept", state))
	r.want(t, "ok", "stdout:\nran\n")
	r, _, _ = a.asked(command, answer("accept", state))
	r.want(t, "refused", "the answer belongs to no question about this call")
	a.file("file_read", "ran").says(t, false, "bytes 0 to 4 of 4")

	b := s.agent(t, "--ask=run", "--cold")
	b.python("40 + 2").want(t, "ok", "42")
	refused := s.run(t, call{argv: []string{psb(t), "mcp", "--ask=perhaps"}})
	if refused.code != 125 || refused.err != "psb: --ask=perhaps: refuse or run, for clients that cannot ask\npsb: hint: psb mcp --ask\n" {
		t.Errorf("%v", refused)
	}
}
