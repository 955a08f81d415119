package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// MaxLine is the longest line of a .jsonl report in bytes, its newline included. What would be longer has its texts and lists shortened and
// says so: "cut": true.
const MaxLine = 64 << 10

// Lines is the report as one object a line, each with its "type": run, gap, limit, denial, more_denials, planted, inspected, learned, never_granted,
// refused_while_learning, left_out, not_set, those of an
// audit (see Audit.lines), and end as the last one. The other keys are those of JSON.
func Lines(r *Report) ([]byte, error) {
	r = r.whole()
	w := &lines{}
	w.add("run", struct {
		Run
		Python *PythonLayer `json:"python_layer,omitempty"`
	}{r.Run, r.Python})
	addAll(w, "gap", r.Gaps)
	addAll(w, "limit", r.Limits)
	addAll(w, "denial", r.Denials)
	if r.More.Count > 0 || r.More.AtLeast {
		w.add("more_denials", r.More)
	}
	w.texts("planted", "path", r.Planted)
	addAll(w, "inspected", r.Inspected)
	addAll(w, "learned", r.Learned)
	addAll(w, "never_granted", r.Never)
	addAll(w, "refused_while_learning", r.Refused)
	w.texts("left_out", "what", r.Left)
	w.texts("not_set", "name", r.Unset)
	r.Audit.lines(w)
	w.add("end", struct {
		End
		Denials int    `json:"denials"` // how many lines of that type came before
		Partial string `json:"partial,omitempty"`
	}{r.End, len(r.Denials), r.Partial})
	return w.b.Bytes(), w.err
}

type lines struct {
	b   bytes.Buffer
	err error
}

func addAll[T any](w *lines, kind string, list []T) {
	for _, v := range list {
		w.add(kind, v)
	}
}

func (w *lines) texts(kind, key string, list []string) {
	for _, s := range list {
		w.add(kind, map[string]string{key: s})
	}
}

// add writes one line; what is longer than a line may be is shortened, step by step, until it fits.
func (w *lines) add(kind string, v any) {
	if w.err != nil {
		return
	}
	line, err := typed(kind, v)
	for most := 4096; err == nil && len(line) > MaxLine; most /= 4 {
		if most == 0 {
			err = fmt.Errorf("a line of type %s is longer than %d bytes", kind, MaxLine)
			break
		}
		line, err = typed(kind, shortened(v, most))
	}
	w.b.Write(line)
	w.err = err
}

// typed puts the type in front of an object's other keys.
func typed(kind string, v any) ([]byte, error) {
	b, err := encode(v, "")
	if err != nil {
		return nil, err
	}
	head := fmt.Appendf(nil, `{"type":%q`, kind)
	if len(b) > len("{}\n") {
		head = append(head, ',')
	}
	return append(head, b[1:]...), nil
}

// shortened is the same object with no text longer than most bytes and no list longer than an eighth of that.
func shortened(v any, most int) any {
	b, err := json.Marshal(v)
	if err != nil {
		return v
	}
	object := map[string]any{}
	if err := json.Unmarshal(b, &object); err != nil {
		return v
	}
	object, _ = cut(object, most).(map[string]any)
	object["cut"] = true
	return object
}

func cut(v any, most int) any {
	switch v := v.(type) {
	case string:
		if len(v) <= most {
			return v
		}
		end := most
		for end > 0 && !utf8.RuneStart(v[end]) {
			end--
		}
		return v[:end] + "…"
	case []any:
		if n := max(1, most/8); len(v) > n {
			v = v[:n]
		}
		for i := range v {
			v[i] = cut(v[i], most)
		}
		return v
	case map[string]any:
		for k := range v {
			v[k] = cut(v[k], most)
		}
	}
	return v
}
