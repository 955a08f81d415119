package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"psb/mcpserver"
)

// Bounds of what an operator gives to the code of every call.
const (
	mostValues     = 64
	mostValueBytes = 1 << 20 // of the whole file
)

const valuesHint = `a file such as {"region": "eu", "rates": {"EUR": 1.1}}`

// readValues reads --values: a JSON object whose names the code of every call finds as names of its own. They hold for every profile.
func readValues(w *world, name string) (json.RawMessage, []mcpserver.GivenName, error) {
	if name == "" {
		return nil, nil, nil
	}
	f, err := os.Open(absolute(w.cwd, name))
	if err != nil {
		return nil, nil, refuse(valuesHint, "--values %s: %v", plainText(name), unwrapPath(err))
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, mostValueBytes+1))
	if err != nil {
		return nil, nil, refuse(valuesHint, "--values %s: %v", plainText(name), unwrapPath(err))
	}
	given, problem := givenNames(text)
	if problem != "" {
		return nil, nil, refuse(valuesHint, "--values %s: %s", plainText(name), problem)
	}
	return text, given, nil
}

// givenNames are those of an operator's values with what each is to Python, sorted; else why they cannot be given.
func givenNames(text []byte) (list []mcpserver.GivenName, problem string) {
	if len(text) > mostValueBytes {
		return nil, fmt.Sprintf("more than %d bytes", mostValueBytes)
	}
	if problem := notForPython(text); problem != "" {
		return nil, problem
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil || all == nil {
		return nil, "no JSON object"
	}
	if len(all) > mostValues {
		return nil, fmt.Sprintf("%d names, at most %d", len(all), mostValues)
	}
	for name, value := range all {
		if !isGivenName(name) {
			return nil, plainText(name) + ": no name that can be given: letters, digits and _, a letter first, and no word of Python's own"
		}
		list = append(list, mcpserver.GivenName{Name: name, Type: pythonType(value)})
	}
	slices.SortFunc(list, func(a, b mcpserver.GivenName) int { return strings.Compare(a.Name, b.Name) })
	return list, ""
}

// notForPython says what of a JSON text no Python would read: its decoder has bounds of its own.
func notForPython(text []byte) string {
	const mostDeep, mostDigits = 100, 4000
	if !utf8.Valid(text) {
		return "no UTF-8"
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	deep := 0
	for {
		token, err := d.Token()
		if err != nil { // the end, or what is told of the whole
			return ""
		}
		switch x := token.(type) {
		case json.Delim:
			if deep++; x == '}' || x == ']' {
				deep -= 2
			}
			if deep > mostDeep {
				return fmt.Sprintf("more than %d lists and objects within each other", mostDeep)
			}
		case json.Number:
			if len(x) > mostDigits {
				return fmt.Sprintf("a number of more than %d digits", mostDigits)
			}
		}
	}
}

// pythonWords cannot be names, and nobody could read what is given under them.
var pythonWords = []string{"False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else", "except", "finally", "for", "from",
	"global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield"}

func isGivenName(s string) bool {
	letter := func(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
	for i := range len(s) {
		if c := s[i]; !letter(c) && (i == 0 || c != '_' && (c < '0' || c > '9')) {
			return false
		}
	}
	return s != "" && len(s) <= 64 && !slices.Contains(pythonWords, s)
}

// pythonType is what a JSON value is once Python has read it.
func pythonType(v json.RawMessage) string {
	v = bytes.TrimSpace(v)
	switch v[0] {
	case '{':
		return "dict"
	case '[':
		return "list"
	case '"':
		return "str"
	case 't', 'f':
		return "bool"
	case 'n':
		return "None"
	}
	if bytes.ContainsAny(v, ".eE") {
		return "float"
	}
	return "int"
}
