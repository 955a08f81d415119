package mcpserver

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var describeTopics = []string{"overview", "limits", "profiles", "packages", "tools", "policy"}

func (s *Server) describeTool() *tool {
	p := properties{
		"topic": textProperty("What to tell of.", "enum", describeTopics, "default", "overview"),
		"query": textProperty("Lines that hold this text only."),
	}
	return &tool{name: "describe", title: "Describe the sandbox", possible: true, schema: schema(p), readOnly: true, idempotent: true,
		about: "What this sandbox lets code do: limits, profiles, packages, tools, policy. Short.",
		run:   func(_ context.Context, c *call) (*mcp.CallToolResult, error) { return s.describe(c) }}
}

func (s *Server) describe(c *call) (*mcp.CallToolResult, error) {
	a := readArguments(c.raw)
	topic := a.word("topic", "overview", describeTopics)
	query, _ := a.text("query", 256)
	if err := a.end(); err != nil {
		return nil, err
	}
	lines := map[string]func() []string{"overview": s.overview, "limits": s.limitLines, "profiles": s.profileLines, "packages": s.packageLines, "tools": s.toolLines, "policy": s.policyLines}[topic]()
	if query != "" {
		low := strings.ToLower(query)
		lines = slices.DeleteFunc(lines, func(l string) bool { return !strings.Contains(strings.ToLower(l), low) })
	}
	if len(lines) == 0 {
		lines = []string{"nothing of that"}
	}
	return s.say(strings.Join(lines, "\n"), map[string]any{"topic": topic, "lines": lines}), nil
}

func (s *Server) overview() []string {
	o := s.offer
	lines := []string{
		fmt.Sprintf("psb %s runs Python %s in a box of its own for each call: namespaces, Landlock, seccomp and limits of the kernel.", o.Version, o.Profiles[0].Python),
		"Files: " + Workspace + " is the working folder, private and empty but for what files brings; what is new there comes back. /tmp is private, too. Nothing is kept after the call.",
		"Network: " + strings.Join(o.Networks, ", ") + ".",
	}
	if len(o.Names) > 0 {
		var names []string
		for _, n := range o.Names {
			names = append(names, n.Name+" ("+n.Type+")")
		}
		lines = append(lines, "Names that run_python's code finds, given by the operator: "+strings.Join(names, ", ")+".")
	}
	if len(o.Layers) > 0 {
		lines = append(lines, "Walls: "+strings.Join(o.Layers, "; ")+".")
	}
	for _, m := range o.Missing {
		lines = append(lines, "Missing on this host: "+m+".")
	}
	if s.sessions == nil {
		lines = append(lines, "No sessions here: give files with the call, and take results along with return_files.")
	} else {
		lines = append(lines, "Sessions: with session=NAME a call runs in a box that stays, with its variables, imports and files. A call that takes too long is interrupted; where it does not stop, the box is ended and the result says that the state was lost.")
	}
	if o.Cold {
		lines = append(lines, "Boxes are made when they are asked for (cold): a call takes a little longer.")
	}
	return append(lines, "Topics: "+strings.Join(describeTopics, ", ")+".")
}

func (s *Server) limitLines() []string {
	c := s.offer.Ceilings
	var lines []string
	for _, n := range ceilingNames {
		v := n.at(&c)
		lines = append(lines, fmt.Sprintf("%s: %v %s without asking, at most %v", n.name, v.Default, n.unit, v.Max))
	}
	lines = append(lines, fmt.Sprintf("code: %d bytes; stdin: %d bytes; args: %d; files in: %d of %d bytes in all; files out: %d of at most %d bytes each; variables: %d",
		c.Code, c.Stdin, c.Args, c.Files, c.FileBytes, c.Returned, c.ReturnMax, c.Variables))
	lines = append(lines, fmt.Sprintf("at once: %d runs, %d more wait for at most %v", s.options.Slots, s.options.Queue, s.options.QueueWait))
	if b := s.offer.Sessions; b != nil {
		lines = append(lines, fmt.Sprintf("sessions: %d of one client, %d in all; one ends after %v without use, and after %v at the latest; memory, processes and space are limits of the whole session, time is one of each call",
			b.Each, b.All, b.Idle, b.Life))
	}
	if s.has("task") {
		lines = append(lines, fmt.Sprintf("background: at most %v, %d tasks of one client, results kept %v", c.Background, s.options.TasksEach, s.options.TaskTTL))
	}
	return lines
}

func (s *Server) profileLines() []string {
	var lines []string
	for i, p := range s.offer.Profiles {
		line := fmt.Sprintf("%s: Python %s", p.Name, p.Python)
		if p.About != "" {
			line += ", " + p.About
		}
		if i == 0 {
			line += " (default)"
		}
		lines = append(lines, line)
	}
	return lines
}

func (s *Server) packageLines() []string {
	var lines []string
	for _, p := range s.offer.Profiles {
		if len(p.Packages) == 0 {
			lines = append(lines, p.Name+": the standard library")
		}
		for _, k := range p.Packages {
			lines = append(lines, p.Name+": "+k)
		}
	}
	return lines
}

func (s *Server) toolLines() []string {
	var lines []string
	for _, t := range s.tools {
		lines = append(lines, t.name+": "+t.about)
	}
	return lines
}

func (s *Server) policyLines() []string {
	var lines []string
	for _, p := range s.offer.Profiles {
		if len(p.Grants) == 0 {
			lines = append(lines, p.Name+": no right beyond the interpreter, its packages and private space")
		}
		for _, g := range p.Grants {
			lines = append(lines, p.Name+": "+g)
		}
	}
	return lines
}
