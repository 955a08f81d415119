package mcpserver

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// sessionPattern is what isSessionName says, for schemas.
const sessionPattern = "^[a-z0-9_-]{1,64}$"

// isSessionName is written out: an expression would be compiled at every start of psb, whatever it is for.
func isSessionName(s string) bool {
	return s != "" && len(s) <= 64 && strings.IndexFunc(s, func(r rune) bool { return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_' || r == '-') }) < 0
}

// asked is a call of run_python or run_shell, read and checked.
type asked struct {
	Request
	background bool
	full       bool // receipt
	approval   string
}

// readPython reads run_python's arguments.
func (s *Server) readPython(raw json.RawMessage) (*asked, error) {
	a := readArguments(raw)
	q := &asked{}
	q.Language, q.Figures = Python, true
	code, given := a.text("code", s.offer.Ceilings.Code)
	if q.Code = code; !given && len(a.problems) == 0 {
		a.problem("code: it is needed")
	}
	s.readRun(a, q)
	q.Variables = a.texts("variables", s.offer.Ceilings.Variables, 1<<10, "inspect_variables")
	return q, a.end()
}

// readShell reads run_shell's arguments.
func (s *Server) readShell(raw json.RawMessage) (*asked, error) {
	a := readArguments(raw)
	q := &asked{}
	q.Language = Shell
	code, given := a.text("command", s.offer.Ceilings.Code)
	if q.Code = code; !given && len(a.problems) == 0 {
		a.problem("command: it is needed")
	}
	dir, _ := a.text("cwd", 1<<10)
	if dir != "" {
		var err error
		if q.Dir, err = workspacePath(dir); err != nil {
			a.problem("cwd: %s", err)
		}
	}
	s.readRun(a, q)
	if dir != "" && q.Dir == "" && q.Session != "" {
		q.Dir = "." // the workspace, not where the last command ended
	}
	for i, f := range q.Files {
		if q.Dir == f.Path || strings.HasPrefix(q.Dir, f.Path+"/") {
			a.problem("cwd: files[%d] makes %s a file", i, quote(f.Path))
		}
	}
	return q, a.end()
}

// readRun reads what both share.
func (s *Server) readRun(a *arguments, q *asked) {
	c := s.offer.Ceilings
	q.background = s.offers("task") && a.flag("background", false)
	timeout := c.Timeout
	if q.background {
		timeout = Ceiling{c.Background.Seconds(), c.Background.Seconds()}
	}
	q.Asked = map[string]float64{}
	number := func(name string, c Ceiling, least float64, whole bool) float64 {
		var v float64
		var ok bool
		if whole {
			var n int64
			n, ok = a.whole(name, c.Default, least, c.Max)
			v = float64(n)
		} else {
			v, ok = a.number(name, c.Default, least, c.Max)
		}
		if ok {
			q.Asked[name] = v
		}
		return v
	}
	q.Timeout = time.Duration(number("timeout_s", timeout, 0.001, false) * float64(time.Second))
	q.Limits = Limits{Memory: uint64(number("memory_mb", c.Memory, 1, true)) << 20, CPUs: number("cpus", c.CPUs, 0.01, false),
		Processes: int(number("max_processes", c.Processes, 1, true)), Disk: uint64(number("disk_mb", c.Disk, 1, true)) << 20}
	q.MaxOutput = int(number("max_output_bytes", c.Output, leastOutput, true))
	q.full = a.word("detail", "brief", []string{"brief", "full"}) == "full"
	if s.sessions != nil {
		if name, ok := a.text("session", 64); ok && name != "" {
			if !isSessionName(name) {
				a.problem("session: %s: 1 to 64 of a-z 0-9 _ - are needed", quote(name))
			}
			q.Session = name
		}
	}
	profile, network := s.offer.Profiles[0].Name, s.offer.Networks[0]
	if q.Session != "" {
		profile, network = "", "" // the session has its own
	}
	q.Profile = a.word("profile", profile, s.profileNames(), "image")
	q.Network = a.word("network", network, s.offer.Networks)
	if stdin, ok := a.text("stdin", c.Stdin); ok && stdin != "" {
		q.Stdin = strings.NewReader(stdin)
	}
	q.Args = a.texts("args", c.Args, 64<<10)
	q.Files = s.readFiles(a)
	q.Return = readReturn(a)
}

// readFiles reads the files that a call brings.
func (s *Server) readFiles(a *arguments) []InputFile {
	v, ok := a.take("files")
	if !ok {
		return nil
	}
	var list []json.RawMessage
	if json.Unmarshal(v, &list) != nil {
		a.problem("files: a list of {path, content} is needed")
		return nil
	}
	c := s.offer.Ceilings
	if len(list) > c.Files {
		a.problem("files: %d entries, at most %d", len(list), c.Files)
		return nil
	}
	var out []InputFile
	sum := 0
	places := map[string]bool{} // of files; false for a folder that one needs
	for i, raw := range list {
		f, err := readFile(raw)
		if err != nil {
			a.problem("files[%d]: %s", i, err)
			continue
		}
		if _, there := places[f.Path]; there {
			a.problem("files[%d]: %s stands there already", i, quote(f.Path))
		}
		places[f.Path] = true
		for at := strings.LastIndexByte(f.Path, '/'); at > 0; at = strings.LastIndexByte(f.Path[:at], '/') {
			if places[f.Path[:at]] {
				a.problem("files[%d]: %s is a file already", i, quote(f.Path[:at]))
			}
			places[f.Path[:at]] = false
		}
		sum += len(f.Content)
		out = append(out, *f)
	}
	if sum > c.FileBytes {
		a.problem("files: %d bytes in all, at most %d", sum, c.FileBytes)
	}
	return out
}

func readFile(raw json.RawMessage) (*InputFile, error) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil || fields == nil {
		return nil, fmt.Errorf("an object with path and content is needed")
	}
	a := &arguments{raw: fields}
	name, named := a.text("path", 1<<10)
	content, filled := a.take("content")
	var text string
	if filled && json.Unmarshal(content, &text) != nil {
		a.problem("content: a string is needed")
	}
	if !named || !filled {
		a.problem("path and content are needed")
	}
	encoding := a.word("encoding", "utf-8", []string{"utf-8", "base64"})
	f := &InputFile{Executable: a.flag("executable", false), Content: []byte(text)}
	if err := a.end(); err != nil {
		return nil, fmt.Errorf("%s", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	var err error
	if f.Path, err = filePath(name); err != nil {
		return nil, err
	}
	if encoding == "base64" {
		if f.Content, err = base64.StdEncoding.DecodeString(text); err != nil {
			return nil, fmt.Errorf("%s: content is no base64", quote(f.Path))
		}
	}
	return f, nil
}

// readReturn reads return_files.
func readReturn(a *arguments) Return {
	v, ok := a.take("return_files")
	if !ok {
		return Return{All: true}
	}
	var all bool
	if json.Unmarshal(v, &all) == nil {
		return Return{All: all}
	}
	globs, err := stringList(v)
	if err != nil || len(globs) > 32 {
		a.problem("return_files: true, false, or a list of at most 32 patterns is needed")
	}
	for _, g := range globs {
		if err := goodPattern(g); err != nil {
			a.problem("return_files: %s", err)
		}
	}
	return Return{Globs: globs}
}

// Wants reports whether a file comes back.
func (r Return) Wants(name string) bool {
	if r.All {
		return true
	}
	for _, g := range r.Globs {
		if Matches(g, name) {
			return true
		}
	}
	return false
}
