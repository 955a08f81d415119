package policy

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/BurntSushi/toml"
)

// Format writes a policy file in its one form: tables in order, one blank line before each, lines in the order in which learning writes
// them, one spelling of keys and values, comments two blanks behind the value. It keeps every comment and the meaning: one on lines of its
// own stays above the line or table that it stands above, one at the end of a table or of the file stays there. Format of Format is Format.
//
// A file with a problem is an error, that of Parse, and comes back as it is.
func Format(name string, src []byte) ([]byte, error) {
	before, err := Parse(name, src)
	if err != nil {
		return src, err
	}
	out := newSheet(src).text()
	after, err := Parse(name, out)
	if err == nil && !sameMeaning(before, after) {
		err = errors.New("it would say something else")
	}
	if err == nil && !slices.Equal(comments(src), comments(out)) {
		err = errors.New("a comment would be lost")
	}
	if err != nil {
		return src, fmt.Errorf("BUG: %s cannot be formatted; please report it: %w", name, err)
	}
	return out, nil
}

// sheet is a file taken apart into what moves as one.
type sheet struct {
	head   []string // comments that open the file
	tables []*page  // the first is the lines before any table
	tail   []string // comments that end the file
	nl     string
}

// page is a table: its header, with the comments above, and its lines.
type page struct {
	name    string // "" before the first header
	comment string // behind the header
	above   []string
	items   []item
	below   []string // comments that end the table
}

// item is one key = value.
type item struct {
	above   []string
	line    string // as it is written, without the comment
	comment string
	rank    int
	key     string
}

// newSheet takes a text apart that Parse accepts.
func newSheet(src []byte) *sheet {
	s := &sheet{tables: []*page{{}}, nl: "\n"}
	if i := bytes.IndexByte(src, '\n'); i > 0 && src[i-1] == '\r' {
		s.nl = "\r\n"
	}
	var (
		index   = indexTOML(src)
		values  map[string]any
		pending []string // comment lines that belong to what comes
		touches bool     // they stand right below a line or a header
		opening = true
		pos     int
	)
	_, _ = toml.Decode(string(src), &values) // Parse has
	spell := newSpeller(src, index, values, s.nl)
	between := func(to int) { // comments and blank lines up to an offset
		for _, line := range strings.SplitAfter(strings.TrimPrefix(string(src[pos:to]), "\ufeff"), "\n") {
			text := strings.TrimSpace(line)
			switch {
			case text != "":
				pending = append(pending, text)
			case strings.HasSuffix(line, "\n"):
				if touches {
					last := s.tables[len(s.tables)-1]
					last.below, pending = append(last.below, pending...), nil
				} else if opening {
					s.head, pending = append(s.head, pending...), nil
				}
				touches, opening = false, opening && len(s.head) == 0
			}
		}
	}
	h, e := 0, 0
	for h < len(index.headers) || e < len(index.entries) {
		if h < len(index.headers) && (e == len(index.entries) || index.headers[h].start < index.entries[e].start) {
			x := index.headers[h]
			between(x.start)
			if opening { // comments directly above the first header open the file
				s.head, pending = pending, nil
			}
			s.tables = append(s.tables, &page{name: tableName(x.path), comment: x.comment, above: pending})
			pos = x.end
			h++
		} else {
			x := index.entries[e]
			between(x.start)
			if opening {
				s.head, pending = pending, nil
			}
			last := s.tables[len(s.tables)-1]
			it := spell.item(last.name, x)
			it.above = append(append(slices.Clone(last.below), pending...), it.above...)
			last.below = nil // what stands between two lines stands above the second
			last.items = append(last.items, it)
			pos = x.end
			e++
		}
		pending, touches, opening = nil, true, false
	}
	between(len(src))
	if last := s.tables[len(s.tables)-1]; touches && len(index.headers)+len(index.entries) > 0 {
		last.below = append(last.below, pending...)
	} else {
		s.tail = pending
	}
	return s
}

// text writes the sheet.
func (s *sheet) text() []byte {
	var lines []string
	blank := func() {
		if n := len(lines); n > 0 && lines[n-1] != "" {
			lines = append(lines, "")
		}
	}
	lines = append(lines, s.head...)
	slices.SortStableFunc(s.tables, func(a, b *page) int {
		ra, _, _ := tableRank(a.name)
		rb, _, _ := tableRank(b.name)
		if a.name == "" || b.name == "" {
			return cmp.Compare(a.name, b.name)
		}
		return cmp.Or(cmp.Compare(ra, rb), cmp.Compare(a.name, b.name))
	})
	for _, t := range s.tables {
		sort.SliceStable(t.items, func(i, j int) bool { return t.items[i].less(t.items[j]) })
		if t.name != "" {
			first := len(lines) == 0
			blank()
			lines = append(lines, t.above...)
			if first { // comments that open a file are the file's
				blank()
			}
			lines = append(lines, commented(tableTitle(t.name), t.comment))
		} else if len(t.items) > 0 && len(t.items[0].above) > 0 {
			blank() // or they would open the file
		}
		for _, it := range t.items {
			lines = append(lines, it.above...)
			lines = append(lines, commented(it.line, it.comment))
		}
		lines = append(lines, t.below...)
	}
	if len(s.tail) > 0 {
		blank()
		lines = append(lines, s.tail...)
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	if len(lines) == 0 {
		return nil
	}
	return []byte(strings.Join(lines, s.nl) + s.nl)
}

func commented(line, comment string) string {
	if comment == "" {
		return line
	}
	return line + "  # " + comment
}

func (a item) less(b item) bool {
	return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.key, b.key)) < 0
}
