package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// witness is a Runner that looks at everything it is asked for: what is beyond the operator's ceilings, or unclean, is a mistake of the server's.
type witness struct {
	*fakeFiles
	mu     sync.Mutex
	wrongs []string
	asked  int
}

func (w *witness) see(right bool, format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.asked++; !right {
		w.wrongs = append(w.wrongs, fmt.Sprintf(format, args...))
	}
}

func (w *witness) Run(ctx context.Context, q *Request) (*Result, error) {
	c := w.offer.Ceilings
	w.see(q.Timeout > 0 && q.Timeout <= c.Background && (q.Timeout.Seconds() <= c.Timeout.Max || q.Output != nil), "timeout %v", q.Timeout)
	w.see(q.Limits.Memory >= 1<<20 && float64(q.Limits.Memory) <= c.Memory.Max*(1<<20) && q.Limits.Disk >= 1<<20 && float64(q.Limits.Disk) <= c.Disk.Max*(1<<20), "%+v", q.Limits)
	w.see(q.Limits.CPUs > 0 && q.Limits.CPUs <= c.CPUs.Max && q.Limits.Processes >= 1 && float64(q.Limits.Processes) <= c.Processes.Max, "%+v", q.Limits)
	w.see(q.MaxOutput >= leastOutput && float64(q.MaxOutput) <= c.Output.Max, "output %d", q.MaxOutput)
	w.see(len(q.Code) <= c.Code && !strings.ContainsRune(q.Code, 0), "code %.100q", q.Code)
	w.see(len(q.Args) <= c.Args && len(q.Variables) <= c.Variables, "%d args, %d variables", len(q.Args), len(q.Variables))
	for _, s := range slices.Concat(q.Args, q.Variables) {
		w.see(len(s) <= 64<<10 && !strings.ContainsRune(s, 0), "word %.100q", s)
	}
	w.see(q.Session == "" || isSessionName(q.Session), "session %q", q.Session)
	w.see(slices.Contains([]string{"default", "data"}, q.Profile) && q.Network == "none" || q.Session != "" && (q.Profile == "" || q.Profile == "default" || q.Profile == "data") && (q.Network == "" || q.Network == "none"), "profile %q, network %q", q.Profile, q.Network)
	w.see(q.Dir == "" || isNameBelow(q.Dir), "cwd %q", q.Dir)
	sum := 0
	for _, f := range q.Files {
		w.see(isNameBelow(f.Path), "file %q", f.Path)
		sum += len(f.Content)
	}
	w.see(len(q.Files) <= c.Files && sum <= c.FileBytes, "%d files of %d bytes", len(q.Files), sum)
	w.see(len(q.Return.Globs) <= 32 && !slices.ContainsFunc(q.Return.Globs, func(g string) bool { return goodPattern(g) != nil }), "globs %q", q.Return.Globs)
	if q.Stdin != nil && q.Timeout.Seconds() <= c.Timeout.Max { // a task's is open
		b, _ := io.ReadAll(q.Stdin)
		w.see(len(b) <= c.Stdin, "%d bytes of input", len(b))
	}
	return w.fakeFiles.run(ctx, q)
}

// isNameBelow: below the workspace, with nothing left to clean.
func isNameBelow(name string) bool {
	return name != "" && len(name) <= 1024 && path.Clean(name) == name && name[0] != '/' && name != ".." && !strings.HasPrefix(name, "../") && !strings.ContainsFunc(name, harmful)
}

func (w *witness) place(at Place, root bool) {
	w.see(isSessionName(at.Session) && (isNameBelow(at.Path) || root && at.Path == ""), "%+v", at)
}

func (w *witness) ReadFile(ctx context.Context, at Place, offset, limit int64) (FileContent, error) {
	w.place(at, false)
	w.see(offset >= 0 && limit >= 1 && limit <= int64(max(w.offer.Ceilings.Output.Max, float64(w.offer.Ceilings.FileBytes))), "offset %d, limit %d", offset, limit)
	return w.fakeFiles.ReadFile(ctx, at, offset, limit)
}

func (w *witness) WriteFile(ctx context.Context, at Place, content []byte, how Writing) (FileInfo, error) {
	w.place(at, false)
	w.see(len(content) <= w.offer.Ceilings.FileBytes, "%d bytes", len(content))
	return w.fakeFiles.WriteFile(ctx, at, content, how)
}

func (w *witness) FindFiles(ctx context.Context, at Place, q FindQuery) ([]FileInfo, error) {
	w.place(at, true)
	_, err := regexp.Compile(q.Grep)
	w.see(err == nil && goodPattern(q.Glob) == nil && q.Depth >= 0 && q.Depth <= 64 && q.Most > 0, "%+v", q)
	return w.fakeFiles.FindFiles(ctx, at, q)
}

func (w *witness) ManageFile(ctx context.Context, at Place, act FileAct) (FileInfo, error) {
	w.place(at, false)
	w.see(slices.Contains(fileActions, act.Do) && act.Mode <= 0o777 && (act.Do != "move" || isNameBelow(act.To)), "%+v", act)
	return w.fakeFiles.ManageFile(ctx, at, act)
}

// toolSchemas are the tools' own, as clients see them.
func toolSchemas(f *testing.F, s *Server) map[string]*jsonschema.Schema {
	c := jsonschema.NewCompiler()
	out := map[string]*jsonschema.Schema{}
	for _, t := range s.tools {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(t.schema))
		if err == nil {
			err = c.AddResource(t.name+".json", doc)
		}
		if err == nil {
			out[t.name], err = c.Compile(t.name + ".json")
		}
		if err != nil {
			f.Fatal(err)
		}
	}
	return out
}

// otherNames of arguments are taken though no schema has them.
var otherNames = map[string]string{"image": "profile", "inspect_variables": "variables", "task_id": "task", "id": "task"}

// plainly is what arguments say, without what counts as absent: null anywhere an argument may be, and "" where a word may be left out.
func plainly(args map[string]any) map[string]any {
	out := map[string]any{}
	for name, v := range args {
		if other, ok := otherNames[name]; ok {
			name = other
		}
		if list, ok := v.([]any); ok && name == "files" {
			var files []any
			for _, one := range list {
				if f, ok := one.(map[string]any); ok {
					one = plainly(f)
				}
				files = append(files, one)
			}
			v = files
		}
		if v == nil || v == "" && slices.Contains([]string{"profile", "network", "detail", "session", "encoding", "topic"}, name) {
			continue
		}
		out[name] = v
	}
	return out
}

// FuzzTools: what a tool takes fits its schema, what it asks of the Runner is within the operator's ceilings, and what it does not take is told, every
// unknown name among it.
func FuzzTools(f *testing.F) {
	for tool, list := range map[string][]string{
		"run_python": {`{"code":"1"}`, `{"code":"1","timeout_s":0.5,"memory_mb":64,"cpus":0.5,"max_processes":3,"disk_mb":1,"max_output_bytes":256,"detail":"full","profile":"data","network":"none"}`,
			`{"code":"1","files":[{"path":"a/b","content":"eA==","encoding":"base64","executable":true}],"return_files":["*.csv"],"variables":["x"],"args":["a"],"stdin":"i"}`,
			`{"code":"1","session":"s","background":true}`, `{"code":"1","args":[null]}`, `{"code":"1","return_files":[null]}`, `{"code":null,"image":"data"}`, `{"code":"1","variables":["a"],"inspect_variables":["b"]}`, `{"code":"\ud800"}`, "{\"code\":\"\xff\"}", `[]`, `{"":true}}`, `{"code":"1","memory_mb":1e400}`},
		"run_shell":   {`{"command":"ls","cwd":"a/../b"}`, `{"command":"ls","cwd":"/workspace"}`, `{"command":"ls","cwd":".."}`},
		"session":     {`{"action":"list"}`, `{"action":"info","session":"s"}`, `{"action":"","session":"S"}`},
		"task":        {`{"action":"list"}`, `{"action":"logs","task":"x","cursor":9007199254740992,"tail":1}`, `{"action":"send","id":"x","text":"t","close":true,"timeout_s":50}`},
		"file_read":   {`{"session":"s","path":"a","offset":1,"limit":1,"encoding":"base64"}`, `{"session":"s","path":"/workspace/a"}`},
		"file_write":  {`{"session":"s","path":"a","content":"x","append":true,"executable":true}`, `{"session":"s","path":"a","content":"!","encoding":"base64"}`},
		"file_edit":   {`{"session":"s","path":"a","old":"x","new":"y","expect_count":0}`, `{"session":"s","path":"a","edits":[{"old":"x","new":"y"},{"old":"y","new":"","expect_count":2}]}`},
		"file_find":   {`{"session":"s","glob":"**/*.py","grep":"a+","depth":3}`, `{"session":"s","path":"","grep":"("}`},
		"file_manage": {`{"session":"s","path":"a","action":"move","to":"b"}`, `{"session":"s","path":"a","action":"chmod","mode":"755"}`, `{"session":"s","path":"a","action":"delete","recursive":true}`},
		"describe":    {`{"topic":"limits","query":"m"}`, `{}`, ``, `null`},
	} {
		for _, args := range list {
			f.Add(tool, []byte(args))
		}
	}
	w := &witness{fakeFiles: newFakeFiles()}
	s, err := New(Options{}, w)
	if err != nil {
		f.Fatal(err)
	}
	schemas := toolSchemas(f, s)
	f.Fuzz(func(t *testing.T, tool string, raw []byte) {
		i := slices.IndexFunc(s.tools, func(x *toolOf) bool { return x.name == tool })
		if i < 0 {
			return
		}
		w.mu.Lock()
		w.made, w.files, w.wrongs, w.asked = map[string]*SessionState{"local/s": {ID: "s", State: "idle"}}, map[string][]byte{"local/s/a": []byte("x")}, nil, 0
		w.mu.Unlock()
		got, err := s.handler(s.tools[i])(context.Background(), &mcp.CallToolRequest{Params: &mcp.CallToolParamsRaw{Name: tool, Arguments: raw}})
		if err != nil {
			t.Fatalf("%s %q: %v", tool, raw, err)
		}
		for _, one := range s.tasks.list(localClient) {
			<-one.done
			s.tasks.drop(one)
		}
		for _, wrong := range w.wrongs {
			t.Errorf("%s %q: asked for %s", tool, raw, wrong)
		}
		rec, _ := got.Meta[resultKey].(*record)
		refused := rec != nil && rec.Status == Refused && rec.Cleanup.State == NotAttempted
		text := textOf(got)
		if clean(text) != text {
			t.Fatalf("%s %q: %q", tool, raw, text)
		}
		var args map[string]any
		if len(bytes.TrimSpace(raw)) > 0 {
			d := json.NewDecoder(bytes.NewReader(raw))
			d.UseNumber()
			if !json.Valid(raw) || d.Decode(&args) != nil {
				if !refused || w.asked > 0 {
					t.Fatalf("%s %q is no object, and was taken: %s", tool, raw, text)
				}
				return
			}
		}
		said := plainly(args)
		if err := schemas[tool].Validate(said); err != nil && !refused {
			t.Fatalf("%s %q was taken: %v\n%s", tool, raw, err, text)
		} else if err != nil && w.asked > 0 {
			t.Fatalf("%s %q was refused after %d looks: %v\n%s", tool, raw, w.asked, err, text)
		}
		var known struct{ Properties map[string]any }
		_ = json.Unmarshal(s.tools[i].schema, &known)
		for name := range args {
			if _, there := known.Properties[name]; !there && otherNames[name] == "" && !strings.Contains(text, "unknown argument "+quote(name)) {
				t.Fatalf("%s %q: %q is not named: %s", tool, raw, name, text)
			}
		}
	})
}

// toolOf has a name of its own where tool is a word.
type toolOf = tool
