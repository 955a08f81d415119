package mcpserver

import (
	"encoding/json"
	"strings"
)

// properties are those of a tool's input, by name; each value is JSON Schema 2020-12 in its common part, which every client takes.
type properties map[string]map[string]any

// schema is an object that takes these and nothing else.
func schema(p properties, required ...string) json.RawMessage {
	if required == nil {
		required = []string{}
	}
	b, err := json.Marshal(map[string]any{"type": "object", "properties": p, "required": required, "additionalProperties": false})
	if err != nil {
		return nil // maps of plain values: it cannot be
	}
	return b
}

func textProperty(about string, more ...any) map[string]any {
	return property("string", about, more...)
}

func property(kind, about string, more ...any) map[string]any {
	p := map[string]any{"type": kind, "description": about}
	for i := 0; i+1 < len(more); i += 2 {
		p[more[i].(string)] = more[i+1]
	}
	return p
}

func listProperty(about string, most int, longest int) map[string]any {
	return property("array", about, "items", map[string]any{"type": "string", "maxLength": longest}, "maxItems", most)
}

// ceilingProperty shows the operator's figures.
func ceilingProperty(about string, c Ceiling, whole bool) map[string]any {
	kind := "number"
	if whole {
		kind = "integer"
	}
	p := property(kind, about, "default", c.Default, "maximum", c.Max)
	if whole {
		p["minimum"] = 1
	} else {
		p["exclusiveMinimum"] = 0
	}
	return p
}

// limitProperties are the arguments by which a call lowers its limits.
func (s *Server) limitProperties(p properties) {
	c := s.offer.Ceilings
	p["timeout_s"] = ceilingProperty("Seconds until the code is ended.", c.Timeout, false)
	p["memory_mb"] = ceilingProperty("Memory in MiB; it can only be lowered.", c.Memory, true)
	p["cpus"] = ceilingProperty("Processors; it can only be lowered.", c.CPUs, false)
	p["max_processes"] = ceilingProperty("Processes and threads; it can only be lowered.", c.Processes, true)
	p["disk_mb"] = ceilingProperty("Space for files in MiB; it can only be lowered.", c.Disk, true)
	p["max_output_bytes"] = property("integer", "Bytes of stdout and of stderr that are shown; the beginning and the end are kept.", "default", c.Output.Default, "maximum", c.Output.Max, "minimum", leastOutput)
	profiles := "Which of the operator's profiles (policy, interpreter, packages)."
	if s.offers("describe") {
		profiles = strings.TrimSuffix(profiles, ".") + "; describe lists them."
	}
	p["profile"] = textProperty(profiles, "enum", s.profileNames(), "default", s.profileNames()[0])
	p["network"] = textProperty("Which of the operator's ways out.", "enum", s.offer.Networks, "default", s.offer.Networks[0])
	p["detail"] = textProperty("How much the receipt tells.", "enum", []string{"brief", "full"}, "default", "brief")
	if s.offers("task") {
		p["background"] = property("boolean", "Return a task id at once; the tool task tells of it. The time limit then is the operator's for tasks.", "default", false)
	}
	if s.sessions != nil {
		p["session"] = textProperty("Name of a session that keeps state and files between calls; made on first use. Without it: a fresh box, no state.",
			"pattern", sessionPattern, "x-mcp-header", "Session")
	}
}

// leastOutput is the least that can be asked to be shown.
const leastOutput = 256

func (s *Server) profileNames() []string {
	var out []string
	for _, p := range s.offer.Profiles {
		out = append(out, p.Name)
	}
	return out
}

// fileProperties are the files that go in and come back.
func (s *Server) fileProperties(p properties) {
	c := s.offer.Ceilings
	p["files"] = map[string]any{"type": "array", "maxItems": c.Files, "description": "Files put into " + Workspace + " before the code runs.",
		"items": map[string]any{"type": "object", "required": []string{"path", "content"}, "additionalProperties": false, "properties": properties{
			"path":       textProperty("Relative to " + Workspace + "."),
			"content":    textProperty("The text, or base64."),
			"encoding":   textProperty("How content is written.", "enum", []string{"utf-8", "base64"}, "default", "utf-8"),
			"executable": property("boolean", "It may be run.", "default", false)}}}
	p["return_files"] = map[string]any{"description": "Which new or changed files of " + Workspace + " come back: true for all, false for none, or patterns such as \"*.csv\".", "default": true,
		"anyOf": []any{map[string]any{"type": "boolean"}, map[string]any{"type": "array", "items": map[string]any{"type": "string"}, "maxItems": 32}}}
	p["stdin"] = textProperty("What the code reads from standard input.", "maxLength", c.Stdin)
	p["args"] = listProperty("sys.argv[1:], or $1 and on.", c.Args, 64<<10)
}

func (s *Server) pythonSchema() json.RawMessage {
	p := properties{}
	p["code"] = textProperty("Python. The value of the last expression comes back, like in a notebook; top-level await works.", "maxLength", s.offer.Ceilings.Code)
	s.limitProperties(p)
	s.fileProperties(p)
	p["variables"] = listProperty("Names or expressions to report after the run.", s.offer.Ceilings.Variables, 1<<10)
	return schema(p, "code")
}

func (s *Server) shellSchema() json.RawMessage {
	p := properties{}
	p["command"] = textProperty("For /bin/sh -c.", "maxLength", s.offer.Ceilings.Code)
	without := Workspace
	if s.sessions != nil {
		without += ", in a session where the last command ended"
	}
	p["cwd"] = textProperty("Working folder below "+Workspace+". Without it: "+without+".", "default", "")
	s.limitProperties(p)
	s.fileProperties(p)
	return schema(p, "command")
}
