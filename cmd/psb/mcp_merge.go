package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/BurntSushi/toml"
)

// errSame: what is to be added stands there already, as it would be added.
var errSame = errors.New("it is there already")

// merged is a client's file with one more server. All bytes that were there stay; an entry of that name which says something else is an error, and
// so is a file that cannot be understood.
func (c *mcpClient) merged(src []byte, name string, entry any) ([]byte, error) {
	switch c.form {
	case "toml":
		return mergeTOML(src, c.under[0], name, entry.(ordered))
	case "yaml":
		return mergeYAML(src, c.under[0], name, entry.(ordered))
	}
	return mergeJSON(src, c.under[0], name, entry)
}

// errTaken says that somebody's own entry has the name.
func errTaken(name string) error {
	return fmt.Errorf("a server %s stands there and says something else; it was left alone", name)
}

func mergeJSON(src []byte, under, name string, entry any) ([]byte, error) {
	text, err := json.MarshalIndent(entry, "    ", "  ")
	if err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(src)) == 0 {
		return fmt.Appendf(nil, "{\n  %q: {\n    %q: %s\n  }\n}\n", under, name, text), nil
	}
	var whole map[string]json.RawMessage
	if err := json.Unmarshal(src, &whole); err != nil || whole == nil {
		return nil, errors.New("it is no plain JSON object (comments?)")
	}
	at, empty, err := insideObject(src, "")
	if err != nil {
		return nil, err
	}
	servers, there := whole[under]
	if !there {
		return inserted(src, at, empty, fmt.Sprintf("\n  %q: {\n    %q: %s\n  }", under, name, text), "\n"), nil
	}
	var list map[string]json.RawMessage
	if json.Unmarshal(servers, &list) != nil || list == nil {
		return nil, fmt.Errorf("%q in it is no object", under)
	}
	if own, taken := list[name]; taken {
		if sameJSON(own, text) {
			return nil, errSame
		}
		return nil, errTaken(name)
	}
	if at, empty, err = insideObject(src, under); err != nil {
		return nil, err
	}
	return inserted(src, at, empty, fmt.Sprintf("\n    %q: %s", name, text), "\n  "), nil
}

// inserted puts a member in as the first of an object, whose inside begins at a position.
func inserted(src []byte, at int, empty bool, member, end string) []byte {
	after := ","
	if empty {
		after = end
	}
	return bytes.Join([][]byte{src[:at], []byte(member + after), src[at:]}, nil)
}

// insideObject finds where the inside of the top object begins, or that of one of its members; of several with one name the last counts, as for
// every reader.
func insideObject(src []byte, member string) (at int, empty bool, err error) {
	d := json.NewDecoder(bytes.NewReader(src))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return 0, false, errors.New("it is no JSON object")
	}
	if member == "" {
		return int(d.InputOffset()), !d.More(), nil
	}
	at = -1
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return 0, false, err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return 0, false, err
		}
		if key == member {
			begin := int(d.InputOffset()) - len(value)
			at, empty = begin+1, len(bytes.TrimSpace(value[1:len(value)-1])) == 0
		}
	}
	if at < 0 {
		return 0, false, fmt.Errorf("no %q in it", member)
	}
	return at, empty, nil
}

func sameJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// mergeTOML adds a table at the end: a table is where it says it is.
func mergeTOML(src []byte, under, name string, entry ordered) ([]byte, error) {
	table := fmt.Sprintf("[%s.%s]\n", under, name)
	for _, kv := range entry {
		value, err := plainJSON(kv.Value) // strings and lists of strings are written alike
		if err != nil {
			return nil, err
		}
		table += kv.Key + " = " + strings.ReplaceAll(value, `","`, `", "`) + "\n"
	}
	var whole map[string]any
	if _, err := toml.Decode(string(src), &whole); err != nil {
		return nil, fmt.Errorf("it is no TOML: %w", err)
	}
	servers, ok := whole[under].(map[string]any)
	if _, there := whole[under]; there && !ok {
		return nil, fmt.Errorf("%q in it is no table", under)
	}
	if own, taken := servers[name]; taken {
		var mine map[string]any
		if _, err := toml.Decode(table, &mine); err == nil && reflect.DeepEqual(own, mine[under].(map[string]any)[name]) {
			return nil, errSame
		}
		return nil, errTaken(name)
	}
	if len(servers) > 0 && !strings.Contains("\n"+string(src), "\n["+under+".") {
		return nil, fmt.Errorf("a table cannot be added: %s in it is written on one line", under)
	}
	out := append(withGap(src), table...)
	if _, err := toml.Decode(string(out), &whole); err != nil {
		return nil, fmt.Errorf("a table cannot be added to it: %w", err)
	}
	return out, nil
}

// withGap is a text that ends with an empty line, or is empty.
func withGap(src []byte) []byte {
	out := bytes.Clone(src)
	if len(out) > 0 && !bytes.HasSuffix(out, []byte("\n")) {
		out = append(out, '\n')
	}
	if len(out) > 0 {
		out = append(out, '\n')
	}
	return out
}

// mergeYAML adds to a mapping that is written as a block, and to nothing else: other forms are for a person.
func mergeYAML(src []byte, under, name string, entry ordered) ([]byte, error) {
	lines := strings.Split(strings.TrimSuffix(string(src), "\n"), "\n")
	at, indent := -1, "  "
	for i, l := range lines {
		if strings.ContainsRune(l, '\t') {
			return nil, errors.New("there are tabs in it")
		}
		if trimmed := strings.TrimRight(l, " "); trimmed == under+":" {
			at = i
		} else if strings.HasPrefix(trimmed, under+":") {
			return nil, fmt.Errorf("%s in it is no block", under)
		}
	}
	if at >= 0 {
		for _, l := range lines[at+1:] {
			if inner := strings.TrimLeft(l, " "); inner != "" && inner[0] != '#' {
				if n := len(l) - len(inner); n > 0 {
					indent = l[:n]
				}
				break
			}
		}
		for _, l := range lines[at+1:] {
			if strings.HasPrefix(l, indent+name+":") {
				return nil, errTaken(name)
			}
			if l != "" && l[0] != ' ' && l[0] != '#' {
				break
			}
		}
	}
	block := indent + name + ":\n"
	for _, kv := range entry {
		value, err := plainJSON(kv.Value) // JSON is YAML
		if err != nil {
			return nil, err
		}
		block += indent + indent + kv.Key + ": " + strings.ReplaceAll(value, `","`, `", "`) + "\n"
	}
	if at < 0 {
		text := string(src)
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		return []byte(text + under + ":\n" + block), nil
	}
	out := append(append(append([]string{}, lines[:at+1]...), strings.TrimSuffix(block, "\n")), lines[at+1:]...)
	return []byte(strings.Join(out, "\n") + "\n"), nil
}
