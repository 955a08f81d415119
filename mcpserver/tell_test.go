package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"
)

// TestTellToolsIsToolsList: each form tells the tools of tools/list, with their descriptions and what they take, and the same bytes each time.
func TestTellToolsIsToolsList(t *testing.T) {
	for _, o := range []Options{{}, {Structured: true, Tools: []string{"run_shell", "task"}}} {
		s := testServer(t, o, &fakeFiles{fakeRunner: fakeRunner{offer: testOffer()}})
		listed, err := connect(t, s, "stdio").ListTools(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var want []any
		again(t, listed.Tools, &want)
		for _, format := range ToolFormats {
			text, err := s.TellTools(format, false)
			if more, _ := s.TellTools(format, false); err != nil || string(more) != string(text) {
				t.Errorf("%s: %v, or other bytes", format, err)
			}
			if format == "mcp" {
				var got struct{ Tools []any }
				if err := json.Unmarshal(text, &got); err != nil || !reflect.DeepEqual(got.Tools, want) {
					t.Errorf("%v\n%s", err, text)
				}
				continue
			}
			var got []map[string]any
			if err := json.Unmarshal(text, &got); err != nil || len(got) != len(want) {
				t.Fatalf("%s: %v, %d tools of %d", format, err, len(got), len(want))
			}
			for i, tool := range got {
				input := "input_schema"
				if format == "openai" {
					if tool["type"] != "function" || len(tool) != 2 {
						t.Errorf("%v", tool)
					}
					tool, input = tool["function"].(map[string]any), "parameters"
				}
				one := want[i].(map[string]any)
				schema := without(one["inputSchema"], "x-mcp-header")
				if tool["name"] != one["name"] || tool["description"] != one["description"] || !reflect.DeepEqual(tool[input], schema) || len(tool) != 3 {
					t.Errorf("%s: %v\nwant %v", format, tool, one)
				}
			}
		}
	}
	if _, err := testServer(t, Options{}, &fakeRunner{offer: testOffer()}).TellTools("yaml", false); err == nil || err.Error() != `no format "yaml": openai, mcp, json` {
		t.Error(err)
	}
}

// again reads a value back from its JSON.
func again(t *testing.T, v, into any) {
	t.Helper()
	b, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(b, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// without takes a word out of a schema, at any depth.
func without(v any, word string) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, x := range v {
			if k != word {
				out[k] = without(x, word)
			}
		}
		return out
	case []any:
		out := []any{}
		for _, x := range v {
			out = append(out, without(x, word))
		}
		return out
	}
	return v
}

// strictWords are all that a schema may hold where a model is held to it, besides names of properties.
var strictWords = []string{"type", "description", "enum", "anyOf", "properties", "required", "additionalProperties", "items", "maxItems", "minItems", "minimum", "maximum", "exclusiveMinimum", "pattern"}

// TestTellToolsStrict: every object takes all of its properties and no other, what was optional may be null, and no word stands there that is refused.
func TestTellToolsStrict(t *testing.T) {
	s := testServer(t, Options{}, &fakeFiles{fakeRunner: fakeRunner{offer: testOffer()}})
	text, err := s.TellTools("openai", true)
	if err != nil {
		t.Fatal(err)
	}
	var list []struct {
		Function struct {
			Name       string
			Strict     bool
			Parameters map[string]any
		}
	}
	if err := json.Unmarshal(text, &list); err != nil || len(list) != len(DefaultTools) {
		t.Fatalf("%v, %d tools", err, len(list))
	}
	for _, f := range list {
		if !f.Function.Strict {
			t.Errorf("%s is not strict", f.Function.Name)
		}
		strictSchema(t, f.Function.Name, f.Function.Parameters)
		plain := s.tools[slices.IndexFunc(s.tools, func(x *tool) bool { return x.name == f.Function.Name })]
		var loose struct {
			Required   []string
			Properties map[string]any
		}
		if err := json.Unmarshal(plain.schema, &loose); err != nil {
			t.Fatal(err)
		}
		for name, p := range f.Function.Parameters["properties"].(map[string]any) {
			if takesNull(p.(map[string]any)) == slices.Contains(loose.Required, name) {
				t.Errorf("%s.%s: %v", f.Function.Name, name, p)
			}
		}
	}
}

func takesNull(p map[string]any) bool {
	for _, one := range append(asList(p["anyOf"]), p) {
		kind := one.(map[string]any)["type"]
		if kind == "null" || slices.Contains(asList(kind), any("null")) {
			enum := asList(p["enum"])
			return enum == nil || slices.Contains(enum, nil)
		}
	}
	return false
}

func asList(v any) []any { l, _ := v.([]any); return l }

func strictSchema(t *testing.T, at string, m map[string]any) {
	t.Helper()
	for word := range m {
		if !slices.Contains(strictWords, word) {
			t.Errorf("%s: %s", at, word)
		}
	}
	if named, ok := m["properties"].(map[string]any); ok {
		var required []string
		for _, r := range asList(m["required"]) {
			required = append(required, fmt.Sprint(r))
		}
		if !slices.Equal(required, sortedKeys(named)) || m["additionalProperties"] != false {
			t.Errorf("%s: required %v, additional %v", at, required, m["additionalProperties"])
		}
		for name, p := range named {
			strictSchema(t, at+"."+name, p.(map[string]any))
		}
	}
	if items, ok := m["items"].(map[string]any); ok {
		strictSchema(t, at+"[]", items)
	}
	for _, one := range asList(m["anyOf"]) {
		strictSchema(t, at+"|", one.(map[string]any))
	}
}

// TestNullIsAbsent: a model that is held to the strict form gives every argument; its nulls are defaults.
func TestNullIsAbsent(t *testing.T) {
	var got *Request
	run := func(_ context.Context, r *Request) (*Result, error) { got = r; return okResult(), nil }
	s := testServer(t, Options{}, &fakeRunner{offer: testOffer(), run: run})
	text, err := s.TellTools("openai", true)
	if err != nil {
		t.Fatal(err)
	}
	var list []struct {
		Function struct {
			Name       string
			Parameters struct{ Required []string }
		}
	}
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(list, func(f struct {
		Function struct {
			Name       string
			Parameters struct{ Required []string }
		}
	}) bool {
		return f.Function.Name == "run_python"
	})
	args := map[string]any{}
	for _, name := range list[at].Function.Parameters.Required {
		args[name] = nil
	}
	args["code"] = "x"
	args["files"] = []any{map[string]any{"path": "a", "content": "b", "encoding": nil, "executable": nil}}
	callTool(t, connect(t, s, "stdio"), "run_python", args)
	if got == nil || got.Code != "x" || got.Timeout.Seconds() != 30 || !got.Return.All || len(got.Asked) != 0 || len(got.Files) != 1 || string(got.Files[0].Content) != "b" {
		t.Errorf("%+v", got)
	}
}
