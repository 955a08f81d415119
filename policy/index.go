package policy

import (
	"bytes"
	"strings"

	"github.com/BurntSushi/toml"
)

// A fileIndex knows where every key and table header of a TOML text stands. The TOML decoder gives values without
// places; the index gives places without values. Errors and edits both use it.
type fileIndex struct {
	headers []header
	entries []entry
	deep    int // line of the first value or key that is nested beyond maxNesting; 0 when there is none
}

// header is one [table] line.
type header struct {
	path    []string
	array   bool // [[table]]
	line    int
	start   int // offset of the line's first byte
	end     int // offset past the line's newline, or the end of the text
	comment string
}

// entry is one key = value.
type entry struct {
	table    []string // nil at the top
	key      []string // more than one element for a dotted key
	line     int      // where the key stands
	start    int      // offset of the line's first byte
	valStart int
	valEnd   int // past the value's last byte
	end      int // past the newline after the value, or the end of the text
	comment  string
}

// maxNesting bounds brackets within brackets and the parts of a dotted key. The decoder recurses, and text that nests
// half a million times would end the process.
const maxNesting = 32

// tableName joins a header's path as messages write it.
func tableName(path []string) string { return strings.Join(path, ".") }

// indexTOML scans text for the TOML decoder to accept or refuse. On text that it refuses the result means nothing
// beyond deep, but the scan always ends and never reads outside the text.
func indexTOML(src []byte) fileIndex {
	s := scanner{src: src, line: 1}
	if bytes.HasPrefix(src, []byte("\xef\xbb\xbf")) {
		s.pos = 3
	}
	var (
		x     fileIndex
		table []string
	)
	for {
		start := s.pos
		s.blanks()
		switch c := s.peek(); {
		case s.pos >= len(src):
			x.deep = s.deep
			return x
		case c == '\n' || c == '\r':
			s.endLine()
		case c == '#':
			s.endLine()
		case c == '[':
			h := header{line: s.line, start: start}
			s.pos++
			if s.peek() == '[' {
				h.array = true
				s.pos++
			}
			h.path = s.keys(']')
			h.comment = s.endLine()
			h.end = s.pos
			table = h.path
			x.headers = append(x.headers, h)
		default:
			e := entry{table: table, line: s.line, start: start}
			e.key = s.keys('=')
			if s.peek() == '=' {
				s.pos++
			}
			s.blanks()
			e.valStart = s.pos
			s.value()
			e.valEnd = s.pos
			for e.valEnd > e.valStart && (src[e.valEnd-1] == ' ' || src[e.valEnd-1] == '\t') {
				e.valEnd--
			}
			e.comment = s.endLine()
			e.end = s.pos
			x.entries = append(x.entries, e)
		}
	}
}

// scanner walks the text once, from left to right.
type scanner struct {
	src  []byte
	pos  int
	line int
	deep int
}

// nested notes the first line that goes too deep.
func (s *scanner) nested(depth int) {
	if depth > maxNesting && s.deep == 0 {
		s.deep = s.line
	}
}

func (s *scanner) peek() byte {
	if s.pos < len(s.src) {
		return s.src[s.pos]
	}
	return 0
}

func (s *scanner) blanks() {
	for s.pos < len(s.src) && (s.src[s.pos] == ' ' || s.src[s.pos] == '\t') {
		s.pos++
	}
}

// endLine moves past the next newline and gives the comment before it, without "#" and outer blanks.
func (s *scanner) endLine() string {
	from := s.pos
	for s.pos < len(s.src) && s.src[s.pos] != '\n' {
		s.pos++
	}
	rest := string(s.src[from:s.pos])
	if s.pos < len(s.src) {
		s.pos++
		s.line++
	}
	if i := strings.IndexByte(rest, '#'); i >= 0 {
		return strings.TrimSpace(rest[i+1:])
	}
	return ""
}

// keys reads a dotted key up to the byte stop, the end of the line or the end of the text.
func (s *scanner) keys(stop byte) []string {
	var keys []string
	for {
		s.nested(len(keys))
		s.blanks()
		switch c := s.peek(); {
		case s.pos >= len(s.src) || c == stop || c == '\n' || c == '\r':
			return keys
		case c == '.':
			s.pos++
		case c == '"' || c == '\'':
			from := s.pos
			s.str()
			keys = append(keys, unquoteKey(string(s.src[from:s.pos])))
		default:
			from := s.pos
			for s.pos < len(s.src) && !strings.ContainsRune(" \t\r\n.=]\"'", rune(s.src[s.pos])) {
				s.pos++
			}
			if s.pos == from {
				s.pos++ // a byte no valid key has
			}
			keys = append(keys, string(s.src[from:s.pos]))
		}
	}
}

// unquoteKey lets the decoder itself say what a quoted key means, so that the two can never disagree.
func unquoteKey(raw string) string {
	if len(raw) < 2 {
		return raw
	}
	inner := raw[1 : len(raw)-1]
	if raw[0] == '\'' || !strings.Contains(inner, `\`) {
		return inner
	}
	var v struct{ X string }
	if _, err := toml.Decode("X = "+raw, &v); err != nil {
		return raw
	}
	return v.X
}

// str moves past one string of any of TOML's four kinds.
func (s *scanner) str() {
	q := s.src[s.pos]
	triple := []byte{q, q, q}
	multi := bytes.HasPrefix(s.src[s.pos:], triple)
	if multi {
		s.pos += 3
	} else {
		s.pos++
	}
	for s.pos < len(s.src) {
		switch c := s.src[s.pos]; {
		case c == '\\' && q == '"' && s.pos+1 < len(s.src) && s.src[s.pos+1] != '\n':
			s.pos += 2
		case c == '\n' && !multi:
			return // not valid; stop where the line does
		case c == '\n':
			s.line++
			s.pos++
		case multi && bytes.HasPrefix(s.src[s.pos:], triple):
			s.pos += 3
			for n := 0; n < 2 && s.peek() == q; n++ {
				s.pos++ // up to two more quotes belong to the string
			}
			return
		case c == q && !multi:
			s.pos++
			return
		default:
			s.pos++
		}
	}
}

// value moves to the end of a value: a comment, a newline outside brackets, or the end of the text.
func (s *scanner) value() {
	depth, dots := 0, 0 // dots of the dotted key within { } that is being read
	for s.pos < len(s.src) {
		switch c := s.src[s.pos]; {
		case c == '"' || c == '\'':
			s.str()
		case c == '.' && depth > 0:
			dots++
			s.nested(dots)
			s.pos++
		case c == ',' || c == '=':
			dots = 0
			s.pos++
		case c == '[' || c == '{':
			depth++
			dots = 0
			s.nested(depth)
			s.pos++
		case c == ']' || c == '}':
			depth--
			s.pos++
		case c == '#' && depth > 0:
			s.endLine()
		case c == '#':
			return
		case c == '\n' && depth > 0:
			s.line++
			s.pos++
		case c == '\n' || c == '\r' && depth <= 0 && s.pos+1 < len(s.src) && s.src[s.pos+1] == '\n':
			return
		default:
			s.pos++
		}
	}
}
