package pythonshim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxNote is the longest note in bytes, its newline included: read no more of the buffer of a write to NoteFD.
const MaxNote = 4096

// The events of notes, with their arguments. Paths and names are as the program wrote them: relative, unresolved.
const (
	NoteOpen    = "open"    // path: about to open a file; "folder/*": from here on any file of the folder
	NoteList    = "list"    // path: about to read a folder's names
	NoteChange  = "change"  // path [path]: about to create, rename, remove, change a name or its mode
	NoteExec    = "exec"    // program, "" when it was no text
	NoteConnect = "connect" // host port, or "unix" path
	NoteBind    = "bind"    // host port, or "unix" path
	NoteResolve = "resolve" // host port
	NoteLookup  = "lookup"  // host port: about to look the name up, which may be granted
	NoteImport  = "import"  // module, importing module: the program itself imports
	NoteEnv     = "env"     // name, "set" or "unset": a variable read by name; never its value
	NoteCall    = "call"    // category, function of the registry
	NoteEval    = "eval"    // key, name: a construct of evaluated text, as [python.eval] would allow it; key "text": what no line of it allows, in words
	NoteDenied  = "denied"  // op, object: the shim refused what the policy does not grant: import, call or eval
	NoteInspect = "inspect" // name, "value" "missing" or "failed", the value's repr or what its repr raised: of --inspect
	NoteError   = "error"   // exception, errno or "import", file or module, second file, "folder" where it may have been one that was to be made, "write" where a file was to be changed: nobody caught it
)

var noteArgs = map[string][2]int{ // fewest, most
	NoteOpen: {1, 1}, NoteList: {1, 1}, NoteChange: {1, 2}, NoteExec: {1, 1}, NoteConnect: {2, 2}, NoteBind: {2, 2},
	NoteResolve: {2, 2}, NoteLookup: {2, 2}, NoteImport: {2, 2}, NoteEnv: {2, 2}, NoteCall: {2, 2}, NoteEval: {2, 2}, NoteDenied: {2, 2}, NoteInspect: {3, 3}, NoteError: {4, 5},
}

// Note is one line of the shim. Everything in it is what the program's process says: a reason, never a right.
type Note struct {
	Event   string
	Args    []string
	At      string // "file:line" or "file" of the program, "" when no frame of it asked
	Func    string // "report.build", "app", "import of numpy"
	Library string // "requests": the library that the program called; "" when none
}

// File and Line split At; a Line of 0 is unknown.
func (n Note) File() string { f, _ := n.place(); return f }

// Line is the line in File, 0 when unknown.
func (n Note) Line() int { _, l := n.place(); return l }

func (n Note) place() (string, int) {
	i := strings.LastIndexByte(n.At, ':')
	if i < 0 {
		return n.At, 0
	}
	line, err := strconv.Atoi(n.At[i+1:])
	if err != nil || line < 0 {
		return n.At, 0
	}
	return n.At[:i], line
}

// Reason is what stands behind a learned rule: "report.build, pandas"; "" when the note names nobody.
func (n Note) Reason() string {
	switch {
	case n.Func == "" || n.Func == n.Library:
		return n.Library
	case n.Library == "":
		return n.Func
	}
	return n.Func + ", " + n.Library
}

var errNote = errors.New("no note")

// ParseNote reads the bytes that were written to NoteFD. They are the program's: anything that is not exactly one known
// note of sane size and characters is an error, and a note that is none is best ignored. Names of environment
// variables hold no "=" and no control characters.
func ParseNote(b []byte) (Note, error) {
	if len(b) > MaxNote {
		return Note{}, fmt.Errorf("note of %d bytes: %w", len(b), errNote)
	}
	var raw struct {
		E string   `json:"e"`
		A []string `json:"a"`
		T string   `json:"at"`
		F string   `json:"f"`
		L string   `json:"l"`
	}
	line, ok := bytes.CutSuffix(b, []byte("\n"))
	if !ok || bytes.IndexByte(line, '\n') >= 0 {
		return Note{}, fmt.Errorf("note is not one line: %w", errNote)
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&raw); err != nil {
		return Note{}, fmt.Errorf("note: %w: %w", errNote, err)
	}
	if d.InputOffset() != int64(len(line)) {
		return Note{}, fmt.Errorf("note has a tail: %w", errNote)
	}
	want, known := noteArgs[raw.E]
	if !known || len(raw.A) < want[0] || len(raw.A) > want[1] {
		return Note{}, fmt.Errorf("note %.20q with %d arguments: %w", raw.E, len(raw.A), errNote)
	}
	for _, s := range slices.Concat(raw.A, []string{raw.T, raw.F, raw.L}) {
		if !utf8.ValidString(s) || strings.ContainsFunc(s, hostile) {
			return Note{}, fmt.Errorf("note %q holds control characters: %w", raw.E, errNote)
		}
	}
	if raw.E == NoteEnv && (raw.A[0] == "" || strings.Contains(raw.A[0], "=") || len(raw.A[0]) > 255 || raw.A[1] != "set" && raw.A[1] != "unset") {
		return Note{}, fmt.Errorf("note of a variable without a name: %w", errNote)
	}
	return Note{Event: raw.E, Args: raw.A, At: raw.T, Func: raw.F, Library: raw.L}, nil
}

// hostile: what must not reach a terminal or a policy file, also what a name that was not UTF-8 became.
func hostile(r rune) bool {
	return r == utf8.RuneError || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029'
}
