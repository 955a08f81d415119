package policy

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// reason is the comment behind a learned rule taken apart: "! alert; because; 2 of 5 files seen".
type reason struct {
	alert   string // "" for a line without mark
	because string
	seen    int // 0 = not said
	of      int // 0 = not known
}

var seenFiles = regexp.MustCompile(`(?:^|; )(\d+)(?: of (\d+))? files seen$`)

func parseReason(comment string) reason {
	var r reason
	if m := seenFiles.FindStringSubmatch(comment); m != nil {
		comment = strings.TrimSuffix(comment, m[0])
		r.seen, _ = strconv.Atoi(m[1])
		r.of, _ = strconv.Atoi(m[2])
	}
	if alert, ok := strings.CutPrefix(comment, "! "); ok {
		r.alert, r.because, _ = strings.Cut(alert, "; ")
		return r
	}
	r.because = comment
	return r
}

func (r reason) String() string {
	var parts []string
	if r.alert != "" {
		parts = append(parts, "! "+r.alert)
	}
	if r.because != "" {
		parts = append(parts, r.because)
	}
	switch {
	case r.seen > 0 && r.of >= r.seen:
		parts = append(parts, fmt.Sprintf("%d of %d files seen", r.seen, r.of))
	case r.seen > 0:
		parts = append(parts, fmt.Sprintf("%d files seen", r.seen))
	}
	return strings.Join(parts, "; ")
}

// joinReason is r with what o knows more: its mark, and a larger count. Who asked stays who asked.
func joinReason(r, o reason) reason {
	if r.alert == "" {
		r.alert = o.alert
	}
	if o.seen > 0 && r.seen > 0 {
		r.of = max(r.of, o.of)
		r.seen = max(r.seen, o.seen)
	}
	return r
}

// reason joins those that the files but the first have for the object of a rule: the first in sort order, like one learning run.
func (m *merger) reason(r *Rule) string {
	var all []reason
	for _, s := range m.sides[1:] {
		for i, o := range s.Rules {
			if raw := s.raw[i]; tableOf(o.Op) == tableOf(r.Op) && raw.Pattern.Text == r.Pattern.Text && o.Why != "" && o.Deny == r.Deny {
				all = append(all, parseReason(o.Why))
			}
		}
	}
	if len(all) == 0 {
		return ""
	}
	slices.SortFunc(all, func(a, b reason) int {
		return cmp.Or(cmp.Compare(a.because, b.because), cmp.Compare(a.alert, b.alert), b.seen-a.seen, b.of-a.of)
	})
	joined := all[0]
	for _, o := range all[1:] {
		joined = joinReason(joined, o)
	}
	return joined.String()
}

// reasons takes over what the other files know more of lines that the first has.
func (m *merger) reasons(e *editor) {
	for _, l := range e.lines {
		if l.entry == nil || !l.ruled || l.entry.comment == "" {
			continue
		}
		own := parseReason(l.entry.comment)
		if own.String() != l.entry.comment { // a text of somebody's own
			continue
		}
		joined := own
		for _, s := range m.sides[1:] {
			for i, r := range s.Rules {
				if s.raw[i].Pattern.Text == l.key && tableOf(r.Op) == l.table && r.Deny == l.deny {
					joined = joinReason(joined, parseReason(r.Why))
				}
			}
		}
		if joined != own {
			l.comment = joined.String()
			if !l.changed {
				l.changed, l.kept = true, true
				l.asked = Rule{Pattern: Pattern{Text: l.key}}
			}
		}
	}
}
