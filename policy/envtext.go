package policy

// TextPart is a piece of an [env] text: literal, or the value of a variable of the host.
type TextPart struct {
	Text    string
	Name    string     // the variable; "" for literal text
	Default []TextPart // what stands for a variable that is unset or empty; nothing for "${NAME}"
}

// TextParts takes the text of an [env] line apart, as it was written. Macros that are no variables (${project}, ${cache}) get their value;
// those without one are empty.
func TextParts(text string, m Macros) ([]TextPart, error) {
	t, err := parseTemplate(text, false)
	if err != nil {
		return nil, err
	}
	return t.textParts(m), nil
}

func (t template) textParts(m Macros) []TextPart {
	var out []TextPart
	for _, p := range t {
		switch {
		case p.ref == "":
			out = append(out, TextPart{Text: p.lit})
		case !contains(builtins, p.ref):
			out = append(out, TextPart{Name: p.ref, Default: p.def.textParts(m)})
		case m.value(p) != "":
			out = append(out, TextPart{Text: m.value(p)})
		default:
			out = append(out, p.def.textParts(m)...)
		}
	}
	return out
}
