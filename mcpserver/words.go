package mcpserver

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// statusLine is the verdict in one line, and what files and sessions came of the run, each a line of psb's own.
func statusLine(r *Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[psb] %s", r.Status)
	switch {
	case r.Status == Refused || r.Status == Busy || r.Status == Internal || r.Status == Cancelled && r.Exit.Reason == "":
		fmt.Fprintf(&b, ": %s", clean(r.Reason))
	case r.Exit.Code != nil && r.Exit.Reason == Reported:
		fmt.Fprintf(&b, ": the program says %d", *r.Exit.Code)
	case r.Exit.Code != nil:
		fmt.Fprintf(&b, ": exit %d", *r.Exit.Code)
	case r.Exit.Signal != "":
		fmt.Fprintf(&b, ": ended by %s", oneLine(r.Exit.Signal))
	}
	if why := reasonWords(r); why != "" {
		b.WriteString(", " + why)
	}
	if r.Wall > 0 {
		fmt.Fprintf(&b, ", %s", seconds(r.Wall))
	}
	if r.Retry > 0 {
		fmt.Fprintf(&b, "; try again in %s", seconds(r.Retry))
	}
	if r.Hint != "" {
		fmt.Fprintf(&b, "\n[psb] hint: %s", clean(r.Hint))
	}
	if s := r.Session; s != nil {
		fmt.Fprintf(&b, "\n[psb] session %s, generation %d", s.ID, s.Generation)
		if s.Lost {
			b.WriteString(": its state was lost, variables and files are gone")
			if s.Why != "" {
				b.WriteString(": " + clean(s.Why))
			}
		}
	}
	if !r.Cleanup.confirmed() && r.Cleanup.State != NotAttempted {
		fmt.Fprintf(&b, "\n[psb] cleanup %s: %s", r.Cleanup.State, clean(strings.Join(r.Cleanup.Left, ", ")))
	}
	b.WriteString(fileLines(r))
	return b.String()
}

// reasonWords says which limit ended a run, and what it was.
func reasonWords(r *Result) string {
	names := map[string]string{"wall": "timeout_s", "memory": "memory_mb", "pids": "max_processes", "disk": "disk_mb", "cpu_time": "cpu_time", "output": "output"}
	name, ok := names[r.Exit.Reason]
	if !ok {
		if r.Exit.Reason == "cancel" {
			return "the client gave up"
		}
		if r.Exit.Reason == "interrupt" {
			return "interrupted"
		}
		return ""
	}
	for _, l := range r.Limits {
		if l.Name == name && l.Effective != nil {
			return fmt.Sprintf("limit %s = %s %s", name, strconv.FormatFloat(*l.Effective, 'f', -1, 64), l.Unit)
		}
	}
	return "limit " + name
}

func seconds(d time.Duration) string {
	return strconv.FormatFloat(max(d.Seconds(), 0.001), 'f', 3, 64) + " s"
}

// oneLine is clean for what stands within a line of psb's own.
func oneLine(s string) string { return clean(strings.ReplaceAll(s, "\n", `\n`)) }

// mostListed bounds the files and denials that are told in words; _meta has the others.
const mostListed = 20

func fileLines(r *Result) string {
	var b strings.Builder
	for i, f := range r.Files {
		if i == mostListed {
			fmt.Fprintf(&b, "\n[psb] … and %d more files", len(r.Files)-i+r.Unlisted)
			return b.String()
		}
		fmt.Fprintf(&b, "\n[psb] file %s %s", oneLine(f.Change), quote(f.Path))
		if f.Change != "deleted" {
			fmt.Fprintf(&b, ", %d bytes", f.Size)
		}
		if f.MIME != "" {
			b.WriteString(", " + oneLine(f.MIME))
		}
		if f.Omitted != "" {
			fmt.Fprintf(&b, ", not taken along: %s", oneLine(f.Omitted))
		}
	}
	if r.Unlisted > 0 {
		fmt.Fprintf(&b, "\n[psb] … and %d more files", r.Unlisted)
	}
	return b.String()
}

func denialLines(r *Result) string {
	var b strings.Builder
	for i, d := range r.Denials {
		if i == mostListed {
			fmt.Fprintf(&b, "\n[psb] … and %d more denials", len(r.Denials)-i+r.More)
			return b.String()
		}
		fmt.Fprintf(&b, "\n[psb] denied: %s %s", oneLine(d.Operation), oneLine(d.Target))
		if d.Count > 1 {
			fmt.Fprintf(&b, " (%d times)", d.Count)
		}
		if d.Where != "" {
			fmt.Fprintf(&b, " at %s", oneLine(d.Where))
		}
		if d.Hint != "" {
			fmt.Fprintf(&b, "; %s", oneLine(d.Hint))
		}
	}
	if r.More > 0 {
		fmt.Fprintf(&b, "\n[psb] … and %d more denials", r.More)
	}
	return b.String()
}

// text is an exception as Python would print it.
func (e *ProgramError) text() string {
	if e.Traceback != "" {
		return strings.TrimRight(e.Traceback, "\n")
	}
	if e.Message == "" {
		return e.Type
	}
	return e.Type + ": " + e.Message
}

func variableLines(list []Variable) string {
	var b strings.Builder
	for i, v := range list {
		if i > 0 {
			b.WriteByte('\n')
		}
		if v.Error != "" {
			fmt.Fprintf(&b, "%s: not available: %s", v.Name, v.Error)
			continue
		}
		repr := cutHead([]byte(v.Repr), 4*mostVariable)
		fmt.Fprintf(&b, "%s = %s", v.Name, repr)
		if v.Cut || len(repr) < len(v.Repr) {
			fmt.Fprintf(&b, " … (%s, cut)", v.Type)
		}
	}
	return b.String()
}
