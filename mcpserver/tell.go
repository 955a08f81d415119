package mcpserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// ToolFormats are the forms in which tools are told to who speaks another protocol.
//
//	openai  [{"type": "function", "function": {name, description, parameters}}]
//	mcp     {"tools": […]}, as tools/list answers
//	json    [{name, description, input_schema}]
var ToolFormats = []string{"openai", "mcp", "json"}

// Tools are those that tools/list tells of, in its order.
func (s *Server) Tools() []*mcp.Tool {
	var out []*mcp.Tool
	for _, t := range s.tools {
		out = append(out, t.definition(s))
	}
	slices.SortFunc(out, func(a, b *mcp.Tool) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// TellTools writes the tools in one of [ToolFormats]: the same bytes for the same options. With strict every argument is required and may be null,
// as function calling asks for that holds a model to the schema; null counts as absent in a call. It is for openai alone.
func (s *Server) TellTools(format string, strict bool) ([]byte, error) {
	var list any
	switch format {
	case "mcp":
		list = map[string]any{"tools": s.Tools()}
	case "openai", "json":
		all := []any{}
		for _, t := range s.Tools() {
			schema, err := plainSchema(t.InputSchema.(json.RawMessage), strict)
			if err != nil {
				return nil, fmt.Errorf("schema of %s: %w", t.Name, err)
			}
			if format == "json" {
				all = append(all, toldTool{t.Name, t.Description, schema})
			} else {
				all = append(all, toldFunction{"function", functionOf{t.Name, t.Description, strict, schema}})
			}
		}
		list = all
	default:
		return nil, fmt.Errorf("no format %q: %s", format, strings.Join(ToolFormats, ", "))
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(list)
	return b.Bytes(), err
}

type toldTool struct {
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Input       map[string]any `json:"input_schema"`
}

type toldFunction struct {
	Type     string     `json:"type"`
	Function functionOf `json:"function"`
}

type functionOf struct {
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Strict      bool           `json:"strict,omitempty"`
	Parameters  map[string]any `json:"parameters"`
}

// plainSchema is a schema without the words of this protocol alone.
func plainSchema(raw json.RawMessage, strict bool) (map[string]any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber() // figures stay as they are written
	var m map[string]any
	if err := d.Decode(&m); err != nil {
		return nil, err
	}
	plain(m, strict)
	return m, nil
}

// notStrict are words of JSON Schema that function calling does not take when it holds a model to the schema. What they bound is checked at the call.
var notStrict = []string{"default", "maxLength", "minLength", "additionalItems", "uniqueItems"}

func plain(m map[string]any, strict bool) {
	for word := range m {
		if strings.HasPrefix(word, "x-") {
			delete(m, word)
		}
	}
	if strict {
		if v, ok := m["default"]; ok {
			if b, err := plainText(v); err == nil {
				m["description"] = fmt.Sprintf("%v null: %s.", m["description"], b)
			}
		}
		for _, word := range notStrict {
			delete(m, word)
		}
	}
	if items, ok := m["items"].(map[string]any); ok {
		plain(items, strict)
	}
	if list, ok := m["anyOf"].([]any); ok {
		for _, one := range list {
			if one, ok := one.(map[string]any); ok {
				plain(one, strict)
			}
		}
	}
	named, _ := m["properties"].(map[string]any)
	required, _ := m["required"].([]any)
	for name, p := range named {
		p, ok := p.(map[string]any)
		if !ok {
			continue
		}
		plain(p, strict)
		if strict && !slices.Contains(required, any(name)) {
			nullable(p)
		}
	}
	if strict && named != nil {
		m["required"] = sortedKeys(named)
	}
}

// nullable lets a property be null.
func nullable(p map[string]any) {
	if list, ok := p["anyOf"].([]any); ok {
		p["anyOf"] = append(list, map[string]any{"type": "null"})
		return
	}
	p["type"] = []any{p["type"], "null"}
	if list, ok := p["enum"].([]any); ok {
		p["enum"] = append(list, nil)
	}
}

// plainText is a value as JSON, its text as it is.
func plainText(v any) (string, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return strings.TrimSuffix(b.String(), "\n"), err
}
