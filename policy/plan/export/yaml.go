package export

import (
	"encoding/json"
	"fmt"
	"strings"
)

// A document of YAML is made of these, strings, numbers and booleans.
type (
	yamlMap  []yamlPair
	yamlList []any
	yamlPair struct {
		key   string
		value any
	}
)

// yamlText writes a value. Texts are in double quotes, as JSON writes them: every YAML reader takes that for the same text.
func yamlText(v any) string {
	var b strings.Builder
	yamlWrite(&b, v, "")
	return b.String()
}

func yamlWrite(b *strings.Builder, v any, indent string) {
	switch v := v.(type) {
	case yamlMap:
		for i, p := range v {
			if i > 0 {
				b.WriteString(indent)
			}
			b.WriteString(p.key + ":")
			yamlBelow(b, p.value, indent+"  ")
		}
	case yamlList:
		for i, x := range v {
			if i > 0 {
				b.WriteString(indent)
			}
			b.WriteString("- ")
			yamlWrite(b, x, indent+"  ")
		}
	default:
		b.WriteString(yamlScalar(v) + "\n")
	}
}

// yamlBelow writes a value behind a key: on the same line where it has no parts.
func yamlBelow(b *strings.Builder, v any, indent string) {
	switch x := v.(type) {
	case yamlMap:
		if len(x) == 0 {
			b.WriteString(" {}\n")
			return
		}
	case yamlList:
		if len(x) == 0 {
			b.WriteString(" []\n")
			return
		}
	default:
		b.WriteString(" " + yamlScalar(v) + "\n")
		return
	}
	b.WriteString("\n" + indent)
	yamlWrite(b, v, indent)
}

func yamlScalar(v any) string {
	if s, ok := v.(string); ok {
		plain := strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-/.") == "" && strings.Trim(s, "/.-") != ""
		if plain && s[0] != '-' && !yamlWord(s) {
			return s
		}
		text, err := json.Marshal(s)
		if err != nil {
			return `""` // no string fails
		}
		return string(text)
	}
	return fmt.Sprint(v)
}

// yamlWord says that a plain word would be read as something else than text.
func yamlWord(s string) bool {
	switch strings.ToLower(s) {
	case "y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", ".nan", ".inf":
		return true
	}
	return false
}
