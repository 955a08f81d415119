// Package call holds the program that runs Python for psb mcp inside a box: it executes a piece of code as a notebook does and writes down what the
// code left, its value, error, variables and figures, for the half outside to read.
//
//	python3 -I -B -u /run/call/run.py
//
// or, where its byte code was made before, /run/call/run.pyc.
//
// It starts up completely, imports what it was told to, says that it is ready, and waits for its order:
//
//	setup.json  there from the start: Setup
//	words       a pipe it writes to: one line for each Word
//	orders      a pipe it reads: each line is the name of a file in this folder, a Task
//
// The half outside makes both pipes and keeps both of their ends open, so that neither side ever waits for the other to open one. It writes the
// files of an order first and its line last, without waiting: an order is in files, and a line is shorter than what a pipe holds at once.
//
// In a session (Setup.Keep) it takes one order after the other, in one interpreter, and says so in words of one line each:
//
//	open ID         it has opened the standard input of this order
//	over ID STATUS  the order is over, its report is written; the status is what an interpreter of its own would have ended with
//
// What it writes is the program's own word: the code it runs shares its interpreter and may write something else there. It does not judge how the
// run ended, and nothing outside does by its report.
package call

import (
	_ "embed"
	"encoding/json"
)

// Dir is the folder in the box that holds the program, what it is told, and what it reports.
const Dir = "/run/call"

// Names in Dir.
const (
	ProgramName = "run.py"
	CodeName    = "run.pyc" // its byte code
	SetupName   = "setup.json"
	WordsName   = "words"
	OrdersName  = "orders"
	TaskName    = "call.json"
	ReportName  = "report.json"
)

// Program is its text, for Python 3.8 and later.
//
//go:embed run.py
var Program string

// Setup is what it is told before it starts.
type Setup struct {
	Workspace string          `json:"workspace"`
	Preload   []string        `json:"preload"` // modules imported before the order
	Values    json.RawMessage `json:"values"`  // an object: names that the code finds
	Keep      bool            `json:"keep"`    // more orders follow the first
}

// Word is what it says while no code of a call has run; afterwards anybody in the box could write one.
type Word struct {
	Ready  bool     `json:"ready"`
	Failed []string `json:"failed"` // with Ready: modules that could not be imported, and why
	Taken  bool     `json:"taken"`  // an order was read, and its code is about to run
}

// MostWord bounds the line of a Word, MostLine that of a session's words.
const (
	MostWord = 32 << 10
	MostLine = 128
)

// Words of a session.
const (
	OpenWord = "open"
	OverWord = "over"
)

// Task is an order.
type Task struct {
	Code       string   `json:"code"`
	Args       []string `json:"args"`
	Variables  []string `json:"variables"`
	Figures    bool     `json:"figures"`
	MostText   int      `json:"most_text"`   // characters of one repr
	MostReport int      `json:"most_report"` // bytes of the whole report
	Report     string   `json:"report"`      // name of the file in Dir that the report goes to

	// Of a session's.
	ID    string `json:"id"`    // by which words tell of it
	Shell bool   `json:"shell"` // Code is for /bin/sh
	Dir   string `json:"dir"`   // where a shell begins; "" = where the last one ended
	Input string `json:"input"` // name of the pipe in Dir that is its standard input; "" is none
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
