package report

import (
	"fmt"
	"net/url"
	"path"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// policyName is where a rule would stand when no file of the sources says more.
const policyName = ".py-sandboxes"

// splitPlace takes "file:line" apart; a line of 0 is not known.
func splitPlace(s string) (file string, line int) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return s, 0
	}
	n, err := strconv.Atoi(s[i+1:])
	if err != nil || n < 0 {
		return s, 0
	}
	return s[:i], n
}

// inside gives the name of a file below the top of the sources; what was installed there by others is not of the sources.
func (r *Report) inside(file string) (name string, ok bool) {
	top := strings.TrimSuffix(r.Root, "/") + "/"
	if r.Root == "" || !path.IsAbs(file) {
		return "", false
	}
	name, ok = strings.CutPrefix(path.Clean(file), top)
	slashed := "/" + name + "/"
	return name, ok && name != "" && !strings.Contains(slashed, "/site-packages/") && !strings.Contains(slashed, "/dist-packages/")
}

// relative is an object as a person in the working folder would name it.
func (r *Report) relative(object string) string {
	folder := strings.TrimSuffix(r.Folder, "/") + "/"
	switch {
	case r.Folder == "" || !path.IsAbs(object):
		return object
	case strings.TrimSuffix(object, "/")+"/" == folder:
		return "./"
	}
	return strings.TrimPrefix(object, folder)
}

// uriOf is a path as a URI reference, percent-encoded: relative for a relative path, with the scheme file for an absolute one.
func uriOf(name string) string {
	u := url.URL{Path: name}
	if path.IsAbs(name) {
		u.Scheme = "file"
	}
	return u.String()
}

// visible makes a text fit for one line: what a reader cannot see, or could be fooled by, is escaped, and so are bytes that are no UTF-8.
func visible(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		c, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case c == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case unicode.IsPrint(c):
			b.WriteString(s[i : i+n])
		case c < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			fmt.Fprintf(&b, `\U%08x`, c)
		}
		i += n
	}
	return b.String()
}

// lines is visible for a text of several lines.
func visibleLines(s string) string {
	list := strings.Split(strings.TrimRight(s, "\n"), "\n")
	for i, l := range list {
		list[i] = visible(l)
	}
	return strings.Join(list, "\n")
}

// times counts from the second one on.
func times(n int) string {
	if n < 2 {
		return ""
	}
	return fmt.Sprintf(" (%d times)", n)
}
