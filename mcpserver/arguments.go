package mcpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// arguments are those of one call, taken one by one. What is wrong with them is collected, so that a model hears of every mistake at once.
type arguments struct {
	raw      map[string]json.RawMessage
	known    []string
	problems []string
}

// readArguments takes a call's arguments apart. Anything but an object is a problem; none at all is an empty one.
func readArguments(raw json.RawMessage) *arguments {
	a := &arguments{raw: map[string]json.RawMessage{}}
	if len(bytes.TrimSpace(raw)) == 0 || string(bytes.TrimSpace(raw)) == "null" {
		return a
	}
	switch err := json.Unmarshal(raw, &a.raw); {
	case err != nil:
		a.problem("the arguments are no JSON object")
		a.raw = map[string]json.RawMessage{}
	case !utf8.Valid(raw) || loneSurrogate(raw): // a decoder would put other characters in their place, and other code would run
		a.problem("the arguments hold characters that are no Unicode")
	}
	return a
}

// loneSurrogate: an escape of JSON that is half of a character, without the other half.
func loneSurrogate(raw []byte) bool {
	high := false // the escape before this place was the first half
	for i := 0; i < len(raw); i++ {
		var unit uint64
		if raw[i] == '\\' && i+5 < len(raw) && raw[i+1] == 'u' {
			unit, _ = strconv.ParseUint(string(raw[i+2:i+6]), 16, 16)
		}
		low := unit >= 0xdc00 && unit <= 0xdfff
		if low != high {
			return true
		}
		high = unit >= 0xd800 && unit <= 0xdbff
		switch {
		case unit != 0:
			i += 5
		case raw[i] == '\\':
			i++
		}
	}
	return high
}

func (a *arguments) problem(format string, args ...any) {
	a.problems = append(a.problems, fmt.Sprintf(format, args...))
}

// take gives an argument by its name or one of its other names. null counts as absent.
func (a *arguments) take(name string, aliases ...string) (json.RawMessage, bool) {
	a.known = append(a.known, name)
	found := json.RawMessage(nil)
	for _, n := range append([]string{name}, aliases...) {
		v, ok := a.raw[n]
		if !ok {
			continue
		}
		delete(a.raw, n)
		if string(v) == "null" {
			continue
		}
		if found != nil {
			a.problem("%s and %s are the same argument", name, n)
		}
		found = v
	}
	return found, found != nil
}

// text is a string of at most so many bytes, without NUL; most 0 is no bound.
func (a *arguments) text(name string, most int, aliases ...string) (string, bool) {
	v, ok := a.take(name, aliases...)
	if !ok {
		return "", false
	}
	var s string
	if json.Unmarshal(v, &s) != nil {
		a.problem("%s: a string is needed", name)
		return "", false
	}
	return s, a.fits(name, s, most)
}

func (a *arguments) fits(name, s string, most int) bool {
	switch {
	case most > 0 && len(s) > most:
		a.problem("%s: %d bytes, at most %d", name, len(s), most)
	case strings.ContainsRune(s, 0):
		a.problem("%s: a NUL character", name)
	case !utf8.ValidString(s):
		a.problem("%s: not UTF-8", name)
	default:
		return true
	}
	return false
}

// word is one of a few strings.
func (a *arguments) word(name, otherwise string, of []string, aliases ...string) string {
	s, ok := a.text(name, 256, aliases...)
	if !ok || s == "" {
		return otherwise
	}
	if !slices.Contains(of, s) {
		a.problem("%s: %s is none of %s", name, quote(s), strings.Join(of, ", "))
		return otherwise
	}
	return s
}

func (a *arguments) flag(name string, otherwise bool) bool {
	v, ok := a.take(name)
	if !ok {
		return otherwise
	}
	var b bool
	if json.Unmarshal(v, &b) != nil {
		a.problem("%s: true or false is needed", name)
	}
	return b
}

// number is a number above least and not above most.
func (a *arguments) number(name string, otherwise, least, most float64) (float64, bool) {
	v, ok := a.take(name)
	if !ok {
		return otherwise, false
	}
	var f float64
	if json.Unmarshal(v, &f) != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		a.problem("%s: a number is needed", name)
		return otherwise, false
	}
	switch {
	case f < least:
		a.problem("%s: %s is below %s", name, figure(f), figure(least))
	case f > most:
		a.problem("%s: %s is above the operator's ceiling of %s", name, figure(f), figure(most))
	default:
		return f, true
	}
	return otherwise, false
}

// figure is a number as people write it, without an exponent.
func figure(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// whole is number for figures without a fraction.
func (a *arguments) whole(name string, otherwise, least, most float64) (int64, bool) {
	f, ok := a.number(name, otherwise, least, most)
	if ok && f != math.Trunc(f) {
		a.problem("%s: %s is no whole number", name, figure(f))
		return int64(otherwise), false
	}
	return int64(f), ok
}

// texts is a list of strings.
func (a *arguments) texts(name string, most, longest int, aliases ...string) []string {
	v, ok := a.take(name, aliases...)
	if !ok {
		return nil
	}
	list, err := stringList(v)
	if err != nil {
		a.problem("%s: a list of strings is needed", name)
		return nil
	}
	if len(list) > most {
		a.problem("%s: %d entries, at most %d", name, len(list), most)
		return nil
	}
	for i, s := range list {
		a.fits(fmt.Sprintf("%s[%d]", name, i), s, longest)
	}
	return list
}

// stringList reads a list in which nothing but strings stands: null is none.
func stringList(raw json.RawMessage) ([]string, error) {
	var list []*string
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, err
	}
	out := make([]string, len(list))
	for i, s := range list {
		if s == nil {
			return nil, errors.New("null is no string")
		}
		out[i] = *s
	}
	return out, nil
}

// end is every problem as one error, arguments nobody took among them, each with the nearest name.
func (a *arguments) end() error {
	for _, name := range sortedKeys(a.raw) {
		line := "unknown argument " + quote(name)
		if near := nearest(name, a.known); near != "" {
			line += ", did you mean " + near + "?"
		}
		a.problem("%s", line)
	}
	if len(a.problems) == 0 {
		return nil
	}
	return &badArguments{a.problems}
}

// badArguments is what is wrong with a call.
type badArguments struct{ problems []string }

func (e *badArguments) Error() string { return strings.Join(e.problems, "\n") }

func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// quote shows a name from outside: nothing in it can be taken for psb's own words.
func quote(s string) string {
	const most = 100
	if len(s) > most {
		s = s[:most] + "…"
	}
	return `"` + oneLine(s) + `"`
}

// nearest gives the known name that a word is a slip of, "" for none.
func nearest(word string, known []string) string {
	best, least := "", 3
	for _, k := range known {
		if d := distance(strings.ToLower(word), k, least); d < least {
			best, least = k, d
		} else if len(word) > 3 && (strings.HasPrefix(k, strings.ToLower(word)) || strings.HasPrefix(word, k)) && least == 3 && best == "" {
			best = k
		}
	}
	return best
}

// distance is Levenshtein's, and anything from most on is most.
func distance(a, b string, most int) int {
	if len(a) > 64 || max(len(a)-len(b), len(b)-len(a)) >= most {
		return most
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			old := row[j]
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(row[j]+1, row[j-1]+1, before+cost)
			before = old
		}
	}
	return min(row[len(b)], most)
}
