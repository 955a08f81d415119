package main

import (
	"encoding/json"
	"fmt"
	"mime"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"psb/mcpserver"
	"psb/pythonshim/call"
)

// boxResult is a verdict in the server's words. Status, exit and limits come from the verdict's facts; of the program's own report nothing but
// Program is filled.
func boxResult(q *mcpserver.Request, v *boxVerdict, how string, stdout, stderr mcpserver.Text, c mcpserver.Ceilings) *mcpserver.Result {
	r := &mcpserver.Result{ID: q.ID}
	r.Program.Stdout, r.Program.Stderr = stdout, stderr
	switch {
	case v == nil:
		r.Status, r.Reason, r.Cleanup.State = mcpserver.Internal, how, mcpserver.NotKnown
		return r
	case v.GivenUp:
		r.Status, r.Reason, r.Cleanup.State = mcpserver.Cancelled, fmt.Sprintf("it had not ended %v after it was given up, and is waited for no more", cancelTime), mcpserver.NotKnown
		return r
	case !v.Started && v.Kept && !v.Cancelled:
		r.Status, r.Reason, r.Hint, r.Cleanup.State = mcpserver.Refused, v.Refusal, v.Hint, mcpserver.KeptSession
		return r
	case !v.Started && v.Cancelled:
		r.Status, r.Reason, r.Exit.Reason = mcpserver.Cancelled, "before the code ran", "cancel"
		r.Cleanup = cleanupOf(v)
		return r
	case !v.Started:
		r.Status, r.Reason, r.Hint = mcpserver.Refused, v.Refusal, v.Hint
		r.Cleanup.State = mcpserver.NotAttempted
		if len(v.Left) > 0 {
			r.Cleanup = cleanupOf(v)
		}
		return r
	}
	r.Wall = v.Wall
	r.Status, r.Exit = endOf(v)
	r.Cleanup = cleanupOf(v)
	r.Limits = limitsOf(q, v, c)
	r.Denials, r.More = denialsOf(v), v.More
	r.Receipt = receiptOf(q, v)
	for _, f := range v.Files {
		file := mcpserver.File{Path: f.Path, Size: f.Size, SHA256: f.SHA256, Change: f.Change, Content: f.Content, Omitted: f.Omitted}
		if f.Content != nil { // of what was not taken along only the name is known
			file.MIME = mediaType(f.Path, f.Content)
		}
		r.Files = append(r.Files, file)
	}
	r.Unlisted = v.Unlisted
	if q.Language == mcpserver.Python {
		r.Receipt.Reported = map[string]any{"report": readReport(v.Report, &r.Program)}
	}
	if v.Kept {
		if r.Receipt.Reported == nil {
			r.Receipt.Reported = map[string]any{}
		}
		r.Receipt.Reported["status"] = v.Status
	}
	return r
}

// endOf judges by wait status and limits alone.
func endOf(v *boxVerdict) (mcpserver.Status, mcpserver.Exit) {
	e := mcpserver.Exit{Signal: v.Signal, Reason: v.Reason}
	if v.Signal == "" && v.Reason != "wall" {
		code := v.Status
		e.Code = &code
	}
	switch {
	case v.Cancelled:
		if e.Code = nil; v.Reason != "interrupt" {
			e.Reason = "cancel"
		}
		return mcpserver.Cancelled, e
	case v.Reason == "wall":
		if e.Signal = "SIGKILL"; v.Kept {
			e.Signal = "SIGINT"
		}
		return mcpserver.TimedOut, e
	case v.Reason == "memory" || v.Reason == "output" || v.Reason == "cpu_time":
		return mcpserver.Killed, e
	case v.Signal != "":
		return mcpserver.Killed, e
	case v.Status == 0:
		if v.Kept {
			e.Reason = mcpserver.Reported
		}
		return mcpserver.OK, e
	case v.Usage.PIDsRefused > 0:
		e.Reason = "pids"
	case v.DiskFull:
		e.Reason = "disk"
	case v.Usage.OOMKills > 0:
		e.Reason = "memory"
	case v.Kept:
		e.Reason = mcpserver.Reported
	}
	return mcpserver.Failed, e
}

func cleanupOf(v *boxVerdict) mcpserver.Cleanup {
	if len(v.Left) > 0 {
		return mcpserver.Cleanup{State: mcpserver.PartLeft, Left: v.Left}
	}
	if v.Kept {
		return mcpserver.Cleanup{State: mcpserver.KeptSession}
	}
	return mcpserver.Cleanup{State: mcpserver.Removed}
}

// limitArguments are the limits that a client knows, by the name of psb's own.
var limitArguments = []struct {
	own, argument string
	scale         float64
}{{"wall", "timeout_s", 1}, {"memory", "memory_mb", 1 << 20}, {"cpus", "cpus", 1}, {"pids", "max_processes", 1}, {"disk", "disk_mb", 1 << 20}}

func limitsOf(q *mcpserver.Request, v *boxVerdict, c mcpserver.Ceilings) []mcpserver.Limit {
	peaks := map[string]float64{"wall": v.Wall.Seconds(), "disk": float64(v.DiskUsed)}
	if v.Usage.MemoryPeak > 0 {
		peaks["memory"] = float64(v.Usage.MemoryPeak)
	}
	if v.Usage.PIDsPeak > 0 {
		peaks["pids"] = float64(v.Usage.PIDsPeak)
	}
	var out []mcpserver.Limit
	for _, a := range limitArguments {
		ceiling, unit := c.Number(a.argument)
		l := mcpserver.Limit{Name: a.argument, Unit: unit, Ceiling: &ceiling.Max, HeldBy: "nothing"}
		if asked, ok := q.Asked[a.argument]; ok {
			l.Requested = &asked
		}
		for _, held := range v.Limits {
			if held.Name == a.own {
				value := held.Value / a.scale
				l.Effective, l.HeldBy, l.Reached = &value, held.HeldBy, held.Reached
			}
		}
		if peak, ok := peaks[a.own]; ok {
			peak /= a.scale
			l.Peak = &peak
		}
		if a.own == "disk" && v.DiskFull {
			l.Reached = true
		}
		out = append(out, l)
	}
	return out
}

func denialsOf(v *boxVerdict) []mcpserver.Denial {
	var out []mcpserver.Denial
	for _, d := range v.Denials {
		m := mcpserver.Denial{Layer: d.Layer, Operation: d.Operation, Target: d.Target, Count: d.Count, Rule: d.Rule, Policy: d.Policy, Where: strings.TrimPrefix(d.Where, "/"),
			Hint: "the sandbox has no right to it"}
		switch d.Operation {
		case "connect":
			m.Hint = "there is no network here; give what is needed with files"
		case "exec":
			m.Hint = "this program is not in the sandbox; use Python, or one of the usual tools"
		case "read", "list":
			m.Hint = "host files are not in the sandbox; give what is needed with files"
		}
		if d.Policy != "" {
			m.Hint += "; the operator may allow it in a profile: " + d.Policy
		}
		out = append(out, m)
	}
	return out
}

// receiptOf sorts what is known by who says so.
func receiptOf(q *mcpserver.Request, v *boxVerdict) mcpserver.Receipt {
	r := mcpserver.Receipt{
		Configured: map[string]any{"provider": v.Provider, "walls": v.Walls, "profile": q.Profile, "network": q.Network, "environment": v.Env},
		Observed:   map[string]any{"cpu_s": v.CPU.Seconds(), "oom_kills": v.Usage.OOMKills, "processes_refused": v.Usage.PIDsRefused},
		Unknown:    slices.Clone(v.Usage.Unknown),
	}
	if len(v.Gaps) > 0 {
		r.Configured["gaps"] = v.Gaps
	}
	if v.LookedAt != "" {
		r.Unknown = append(r.Unknown, "files: "+v.LookedAt)
	}
	return r
}

// readReport takes the program's own report over, as its word; the answer says whether there was one.
func readReport(text []byte, p *mcpserver.Program) string {
	if text == nil {
		return "none: the code ended its interpreter before one was written"
	}
	var rep call.Report
	if err := json.Unmarshal(text, &rep); err != nil {
		return "unreadable"
	}
	if x := rep.Value; x != nil {
		p.Value = &mcpserver.Value{Type: x.Type, Repr: x.Repr, MIME: x.MIME, Cut: x.Cut, JSON: orText(x.JSON)}
	}
	p.Error = errorOf(rep.Error, 8)
	for i, x := range rep.Variables {
		if i == 64 {
			break
		}
		p.Variables = append(p.Variables, mcpserver.Variable{Name: x.Name, Type: x.Type, Repr: x.Repr, JSON: orText(x.JSON), Size: x.Size, Error: x.Error, Cut: x.Cut})
	}
	for i, x := range rep.Figures {
		if i == 16 {
			break
		}
		p.Figures = append(p.Figures, mcpserver.Figure{MIME: x.MIME, Data: x.Data})
	}
	return "read"
}

func orText(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func errorOf(e *call.Error, chain int) *mcpserver.ProgramError {
	if e == nil {
		return nil
	}
	out := &mcpserver.ProgramError{Type: e.Type, Message: e.Message, Traceback: e.Traceback}
	for _, f := range e.Frames {
		out.Frames = append(out.Frames, mcpserver.Frame(f))
	}
	if chain > 0 {
		out.Chained = errorOf(e.Chained, chain-1)
	}
	return out
}

// mediaType goes by what a file holds, and by its name where that says more.
func mediaType(name string, b []byte) string {
	if kind := mcpserver.ImageKind(b); kind != "" {
		return kind
	}
	ext := strings.ToLower(path.Ext(name))
	binary := !utf8.Valid(b) || slices.Contains(b, 0)
	for _, t := range []struct{ ext, kind string }{{".csv", "text/csv"}, {".md", "text/markdown"}, {".json", "application/json"}, {".py", "text/x-python"}, {".html", "text/html"}, {".svg", "image/svg+xml"}, {".xml", "application/xml"}} {
		if ext == t.ext && !binary {
			return t.kind
		}
	}
	if !binary {
		return "text/plain"
	}
	if kind := mime.TypeByExtension(ext); kind != "" && !strings.HasPrefix(kind, "text/") && !strings.HasPrefix(kind, "image/") {
		return kind
	}
	return "application/octet-stream"
}
