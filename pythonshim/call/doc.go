// Package call holds the program that runs one piece of Python for psb mcp inside a box: it executes the code as a notebook does and writes down
// what the code left, its value, error, variables and figures, for the half outside to read once the box is gone.
//
//	python3 -I -B -u /run/call/run.py
//
// What it writes is the program's own word: the code it runs shares its interpreter and may write something else there. It does not judge how the
// run ended, and nothing outside does by its report.
package call

import _ "embed"

// Dir is the folder in the box that holds the program, what it is told, and what it reports.
const Dir = "/run/call"

// Names in Dir.
const (
	ProgramName = "run.py"
	TaskName    = "call.json"
	ReportName  = "report.json"
)

// Program is its text, for Python 3.8 and later.
//
//go:embed run.py
var Program string

// Task is what it is told.
type Task struct {
	Code       string   `json:"code"`
	Args       []string `json:"args"`
	Variables  []string `json:"variables"`
	Figures    bool     `json:"figures"`
	MostText   int      `json:"most_text"`   // characters of one repr
	MostReport int      `json:"most_report"` // bytes of the whole report
	Workspace  string   `json:"workspace"`
}

// Report is what it says.
type Report struct {
	Value     *Value     `json:"value"`
	Error     *Error     `json:"error"`
	Variables []Variable `json:"variables"`
	Figures   []Figure   `json:"figures"`
}

// Value is the last expression's.
type Value struct {
	Type string            `json:"type"`
	Repr string            `json:"repr"`
	JSON *string           `json:"json"` // a strict JSON text
	MIME map[string]string `json:"mime"`
	Cut  bool              `json:"cut"`
}

// Error is the exception that ended the code.
type Error struct {
	Type      string  `json:"type"`
	Message   string  `json:"message"`
	Frames    []Frame `json:"frames"`
	Chained   *Error  `json:"chained"`
	Traceback string  `json:"traceback"`
}

// Frame is one line of a traceback.
type Frame struct {
	File     string `json:"file"`
	Line     int    `json:"line"`
	Function string `json:"function"`
	Source   string `json:"source"`
}

// Variable is one name or expression that was asked for.
type Variable struct {
	Name  string  `json:"name"`
	Type  string  `json:"type"`
	Repr  string  `json:"repr"`
	JSON  *string `json:"json"`
	Size  int64   `json:"size"`
	Error string  `json:"error"`
	Cut   bool    `json:"cut"`
}

// Figure is a picture in base64.
type Figure struct {
	MIME string `json:"mime"`
	Data []byte `json:"data"`
}
