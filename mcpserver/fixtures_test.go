//lint:file-ignore SA1019 the conformance suite asks for what the protocol gave up

package mcpserver

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The official conformance suite asks a server for tools, resources and prompts of its own. These are they; they stand beside psb's tools, behind
// psb's own transports, and run no code.

// The smallest PNG and WAV.
var (
	fixtureImage, _ = base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
	fixtureSound, _ = base64.StdEncoding.DecodeString("UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=")
)

type fixtureTool func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error)

func says(format string, args ...any) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf(format, args...)}}}
}

func shows(c ...mcp.Content) fixtureTool {
	return func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: c}, nil
	}
}

// fixtures adds everything the suite wants.
func fixtures(s func() *Server) *Extra {
	return &Extra{
		Options: func(o *mcp.ServerOptions) {
			caps := &mcp.ServerCapabilities{Logging: &mcp.LoggingCapabilities{}}
			caps.AddExtension(tasksExtension, map[string]any{})
			o.Capabilities = caps
			o.CompletionHandler = func(context.Context, *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
				return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{}}}, nil
			}
			o.SubscribeHandler = func(context.Context, *mcp.SubscribeRequest) error { return nil }
			o.UnsubscribeHandler = func(context.Context, *mcp.UnsubscribeRequest) error { return nil }
		},
		Server: func(m *mcp.Server) {
			for name, run := range fixtureTools(m, s) {
				schema := json.RawMessage(`{"type":"object"}`)
				if own, ok := fixtureSchemas[name]; ok {
					schema = json.RawMessage(own)
				}
				m.AddTool(&mcp.Tool{Name: name, Description: "A fixture of the conformance suite.", InputSchema: schema}, mcp.ToolHandler(run))
			}
			fixtureResources(m)
			fixturePrompts(m)
		},
	}
}

var fixtureSchemas = map[string]string{
	"json_schema_2020_12_tool": `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","additionalProperties":false,
		"$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},
		"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},"contactMethod":{"type":"string","enum":["phone","email"]},"phone":{"type":"string"},"email":{"type":"string"}},
		"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],
		"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},"then":{"required":["phone"]},"else":{"required":["email"]}}`,
	"test_x_mcp_header": `{"type":"object","properties":{"region":{"type":"string","description":"A place.","x-mcp-header":"Region"},"level":{"type":"integer","description":"A figure."}}}`,
	"greet":             `{"type":"object","properties":{"name":{"type":"string"}}}`,
	"slow_compute":      `{"type":"object","properties":{"seconds":{"type":"number"},"label":{"type":"string"}}}`,
}

func fixtureTools(m *mcp.Server, s func() *Server) map[string]fixtureTool {
	image := &mcp.ImageContent{Data: fixtureImage, MIMEType: "image/png"}
	embedded := func(uri string) mcp.Content {
		return &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: uri, MIMEType: "text/plain", Text: "embedded text"}}
	}
	tools := map[string]fixtureTool{
		"test_simple_text":            shows(&mcp.TextContent{Text: "This is a simple text response for testing."}), // the suite compares it
		"test_image_content":          shows(image),
		"test_audio_content":          shows(&mcp.AudioContent{Data: fixtureSound, MIMEType: "audio/wav"}),
		"test_embedded_resource":      shows(embedded("test://embedded-resource")),
		"test_multiple_content_types": shows(&mcp.TextContent{Text: "text"}, image, embedded("test://mixed")),
		"test_streaming_elicitation":  shows(&mcp.TextContent{Text: "one answer, no request"}),
		"json_schema_2020_12_tool":    shows(&mcp.TextContent{Text: "called"}),
		"test_x_mcp_header":           shows(&mcp.TextContent{Text: "called"}),
		"test_error_handling": func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			r := says("this tool fails whenever it is called")
			r.IsError = true
			return r, nil
		},
		"test_tool_with_logging":  fixtureLogs(3),
		"test_logging_tool":       fixtureLogs(1),
		"test_tool_with_progress": fixtureProgress,
		"test_reconnection": func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if r.Extra != nil && r.Extra.CloseSSEStream != nil {
				r.Extra.CloseSSEStream(mcp.CloseSSEStreamArgs{RetryAfter: 10 * time.Millisecond})
			}
			time.Sleep(100 * time.Millisecond) // the client comes back meanwhile
			return says("after the stream was closed"), nil
		},
		"test_missing_capability": func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if caps := r.ClientCapabilities(); caps != nil && caps.Sampling != nil {
				return says("declared"), nil
			}
			return nil, &jsonrpc.Error{Code: codeMissingCapability, Message: "sampling is needed", Data: json.RawMessage(`{"requiredCapabilities":{"sampling":{}}}`)}
		},
		"test_trigger_tool_change": func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			m.AddTool(&mcp.Tool{Name: "passing_by", Description: "Added to change the list.", InputSchema: json.RawMessage(`{"type":"object"}`)}, mcp.ToolHandler(shows()))
			return says("changed"), nil
		},
		"test_trigger_prompt_change": func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			m.AddPrompt(&mcp.Prompt{Name: "passing_by", Description: "Added to change the list."}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
				return &mcp.GetPromptResult{}, nil
			})
			return says("changed"), nil
		},
	}
	for name, run := range askingTools() {
		tools[name] = run
	}
	for name, run := range roundTools() {
		tools[name] = run
	}
	for name, run := range taskTools(s) {
		tools[name] = run
	}
	return tools
}

func fixtureLogs(n int) fixtureTool {
	return func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for i := range n {
			_ = r.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Data: fmt.Sprintf("step %d", i)})
			time.Sleep(20 * time.Millisecond)
		}
		return says("logged"), nil
	}
}

func fixtureProgress(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	for _, at := range []float64{0, 50, 100} {
		_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: at, Total: 100})
		time.Sleep(20 * time.Millisecond)
	}
	return says("%v", r.Params.GetProgressToken()), nil
}

// askingTools ask a client of an older revision for something while they run.
func askingTools() map[string]fixtureTool {
	ask := func(schema string) fixtureTool {
		return func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			got, err := r.Session.Elicit(ctx, &mcp.ElicitParams{Message: "Please fill in", RequestedSchema: json.RawMessage(schema)})
			if err != nil {
				return nil, err
			}
			return says("action %s, content %v", got.Action, got.Content), nil
		}
	}
	return map[string]fixtureTool{
		"test_sampling": func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			got, err := r.Session.CreateMessage(ctx, &mcp.CreateMessageParams{Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: "Say something"}}}, MaxTokens: 100})
			if err != nil {
				return nil, err
			}
			text, _ := got.Content.(*mcp.TextContent)
			if text == nil {
				return nil, errors.New("no text")
			}
			return says("LLM response: %s", text.Text), nil
		},
		"test_elicitation": ask(`{"type":"object","properties":{"username":{"type":"string"}},"required":["username"]}`),
		"test_elicitation_sep1034_defaults": ask(`{"type":"object","properties":{"name":{"type":"string","default":"John Doe"},"age":{"type":"integer","default":30},
			"score":{"type":"number","default":95.5},"status":{"type":"string","enum":["active","inactive","pending"],"default":"active"},"verified":{"type":"boolean","default":true}}}`),
		"test_elicitation_sep1330_enums": ask(`{"type":"object","properties":{"untitledSingle":{"type":"string","enum":["option1","option2","option3"]},
			"titledSingle":{"type":"string","oneOf":[{"const":"value1","title":"One"},{"const":"value2","title":"Two"},{"const":"value3","title":"Three"}]},
			"legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],"enumNames":["One","Two","Three"]},
			"untitledMulti":{"type":"array","minItems":1,"maxItems":3,"items":{"type":"string","enum":["option1","option2","option3"]}},
			"titledMulti":{"type":"array","minItems":1,"maxItems":3,"items":{"anyOf":[{"const":"value1","title":"One"},{"const":"value2","title":"Two"},{"const":"value3","title":"Three"}]}}}}`),
	}
}

// Rounds: the newer revision asks by a result, and the client calls again with the answers.

func asksName(key string) mcp.InputRequestMap { return asksFor(key, "name") }

func asksFor(key, field string) mcp.InputRequestMap {
	return mcp.InputRequestMap{key: &mcp.ElicitParams{Message: "Which " + field + "?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{"` + field + `":{"type":"string"}},"required":["` + field + `"]}`)}}
}

func asksText(key string) mcp.InputRequestMap {
	return mcp.InputRequestMap{key: &mcp.CreateMessageParams{Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: "Say something"}}}, MaxTokens: 50}}
}

// answer is a field of what was filled in; "" where nobody filled it in.
func answer(p *mcp.CallToolParamsRaw, key, field string) string {
	got, _ := p.InputResponses[key].(*mcp.ElicitResult)
	if got == nil || got.Action != "accept" {
		return ""
	}
	if v, there := got.Content[field]; there {
		return fmt.Sprint(v)
	}
	return ""
}

func sampled(p *mcp.CallToolParamsRaw, key string) string {
	got, _ := p.InputResponses[key].(*mcp.CreateMessageWithToolsResult)
	if got == nil {
		return ""
	}
	for _, c := range got.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			return t.Text
		}
	}
	return ""
}

const fixtureState = "state-1"

func roundTools() map[string]fixtureTool {
	confirm := mcp.InputRequestMap{"confirm": &mcp.ElicitParams{Message: "Go on?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]}`)}}
	stateful := func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		switch p := r.Params; {
		case p.RequestState != "" && p.RequestState != fixtureState:
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "this is not the state that was given out"}
		case p.RequestState != "" && answer(p, "confirm", "ok") != "":
			return says("state-ok: confirmed"), nil
		}
		return &mcp.CallToolResult{InputRequests: confirm, RequestState: fixtureState}, nil
	}
	return map[string]fixtureTool{
		"test_input_required_result_request_state":  stateful,
		"test_input_required_result_tampered_state": stateful,
		"test_input_required_result_elicitation": func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if name := answer(r.Params, "user_name", "name"); name != "" {
				return says("Hello, %s!", name), nil
			}
			return &mcp.CallToolResult{InputRequests: asksName("user_name")}, nil
		},
		"test_input_required_result_sampling": func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if text := sampled(r.Params, "capital_question"); text != "" {
				return says("it said: %s", text), nil
			}
			return &mcp.CallToolResult{InputRequests: asksText("capital_question")}, nil
		},
		"test_input_required_result_list_roots": func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if got, _ := r.Params.InputResponses["client_roots"].(*mcp.ListRootsResult); got != nil {
				var all []string
				for _, root := range got.Roots {
					all = append(all, root.URI)
				}
				return says("roots: %s", strings.Join(all, " ")), nil
			}
			return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"client_roots": &mcp.ListRootsParams{}}}, nil
		},
		"test_input_required_result_multiple_inputs": func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			roots, _ := r.Params.InputResponses["client_roots"].(*mcp.ListRootsResult)
			name, text := answer(r.Params, "user_name", "name"), sampled(r.Params, "greeting")
			if roots != nil && name != "" && text != "" {
				return says("%s, %s: %d roots", text, name, len(roots.Roots)), nil
			}
			all := asksName("user_name")
			all["greeting"], all["client_roots"] = asksText("greeting")["greeting"], &mcp.ListRootsParams{}
			return &mcp.CallToolResult{InputRequests: all, RequestState: fixtureState}, nil
		},
		"test_input_required_result_multi_round": func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			first, second := answer(r.Params, "step1", "name"), answer(r.Params, "step2", "color")
			switch name, in := strings.CutPrefix(r.Params.RequestState, "second:"); {
			case in && second != "":
				return says("%s, then %s", name, second), nil
			case r.Params.RequestState == "first" && first != "":
				return &mcp.CallToolResult{InputRequests: asksFor("step2", "color"), RequestState: "second:" + first}, nil
			}
			return &mcp.CallToolResult{InputRequests: asksName("step1"), RequestState: "first"}, nil
		},
		"test_input_required_result_capabilities": func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if len(r.Params.InputResponses) > 0 {
				return says("answered"), nil
			}
			all := mcp.InputRequestMap{}
			if caps := r.ClientCapabilities(); caps != nil {
				if caps.Elicitation != nil {
					all["user_name"] = asksName("user_name")["user_name"]
				}
				if caps.Sampling != nil {
					all["greeting"] = asksText("greeting")["greeting"]
				}
			}
			if len(all) == 0 {
				return says("nothing can be asked"), nil
			}
			return &mcp.CallToolResult{InputRequests: all}, nil
		},
	}
}

// taskTools go on as tasks with clients that take them; it is psb's own layer that makes them.
func taskTools(s func() *Server) map[string]fixtureTool {
	asTask := func(work func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error)) fixtureTool {
		return func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if !takesTasks(r) {
				return work(ctx, r)
			}
			srv := s()
			t, inside, away := srv.tasks.begin(clientOf(r.Extra), r.Params.Name)
			if away != nil {
				return nil, away
			}
			go func() {
				got, err := work(inside, r)
				status := taskCompleted
				switch {
				case inside.Err() != nil:
					status = taskCancelled
				case err != nil:
					status = taskFailed
				}
				t.finish(status, got, err, time.Now())
			}()
			return nil, &taskMade{t}
		}
	}
	return map[string]fixtureTool{
		"greet": func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			var in struct{ Name string }
			_ = json.Unmarshal(r.Params.Arguments, &in)
			return says("Hello, %s!", in.Name), nil
		},
		"slow_compute": asTask(func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			var in struct{ Seconds float64 }
			_ = json.Unmarshal(r.Params.Arguments, &in)
			select {
			case <-time.After(time.Duration(in.Seconds * float64(time.Second))):
				return says("done"), nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}),
		"failing_job": func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if !takesTasks(r) { // it can be nothing but a task
				return nil, &jsonrpc.Error{Code: codeMissingCapability, Message: "tasks are needed", Data: json.RawMessage(`{"requiredCapabilities":{"extensions":{"` + tasksExtension + `":{}}}}`)}
			}
			return asTask(func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				time.Sleep(time.Second)
				r := says("it failed")
				r.IsError = true
				return r, nil
			})(ctx, r)
		},
		"protocol_error_job": asTask(func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return nil, errors.New("nothing could be answered")
		}),
	}
}

func fixtureResources(m *mcp.Server) {
	add := func(uri, mime string, c mcp.ResourceContents) {
		c.URI, c.MIMEType = uri, mime
		m.AddResource(&mcp.Resource{Name: strings.TrimPrefix(uri, "test://"), Description: "A fixture.", URI: uri, MIMEType: mime},
			func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
				return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{&c}}, nil
			})
	}
	add("test://static-text", "text/plain", mcp.ResourceContents{Text: "static text"})
	add("test://static-binary", "image/png", mcp.ResourceContents{Blob: fixtureImage})
	add("test://watched-resource", "text/plain", mcp.ResourceContents{Text: "watched"})
	m.AddResourceTemplate(&mcp.ResourceTemplate{Name: "template", Description: "A fixture.", MIMEType: "application/json", URITemplate: "test://template/{id}/data"},
		func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			id := strings.TrimSuffix(strings.TrimPrefix(r.Params.URI, "test://template/"), "/data")
			text, err := json.Marshal(map[string]any{"id": id, "data": "Data for ID: " + id, "templateTest": true})
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, MIMEType: "application/json", Text: string(text)}}}, err
		})
}

func fixturePrompts(m *mcp.Server) {
	user := func(c mcp.Content) *mcp.PromptMessage { return &mcp.PromptMessage{Role: "user", Content: c} }
	add := func(name string, arguments []string, get func(args map[string]string) []*mcp.PromptMessage) {
		p := &mcp.Prompt{Name: name, Description: "A fixture."}
		for _, a := range arguments {
			p.Arguments = append(p.Arguments, &mcp.PromptArgument{Name: a, Description: "An argument.", Required: true})
		}
		m.AddPrompt(p, func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{Messages: get(r.Params.Arguments)}, nil
		})
	}
	add("test_simple_prompt", nil, func(map[string]string) []*mcp.PromptMessage {
		return []*mcp.PromptMessage{user(&mcp.TextContent{Text: "simple"})}
	})
	add("test_prompt_with_arguments", []string{"arg1", "arg2"}, func(a map[string]string) []*mcp.PromptMessage {
		return []*mcp.PromptMessage{user(&mcp.TextContent{Text: a["arg1"] + " and " + a["arg2"]})}
	})
	add("test_prompt_with_embedded_resource", []string{"resourceUri"}, func(a map[string]string) []*mcp.PromptMessage {
		return []*mcp.PromptMessage{user(&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: a["resourceUri"], MIMEType: "text/plain", Text: "embedded"}}), user(&mcp.TextContent{Text: "see above"})}
	})
	add("test_prompt_with_image", nil, func(map[string]string) []*mcp.PromptMessage {
		return []*mcp.PromptMessage{user(&mcp.ImageContent{Data: fixtureImage, MIMEType: "image/png"}), user(&mcp.TextContent{Text: "see above"})}
	})
	m.AddPrompt(&mcp.Prompt{Name: "test_input_required_result_prompt", Description: "A fixture."}, func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		if got, _ := r.Params.InputResponses["user_context"].(*mcp.ElicitResult); got != nil && got.Action == "accept" {
			return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{user(&mcp.TextContent{Text: fmt.Sprint("context: ", got.Content["context"])})}}, nil
		}
		return &mcp.GetPromptResult{InputRequests: mcp.InputRequestMap{"user_context": &mcp.ElicitParams{Message: "Which context?",
			RequestedSchema: json.RawMessage(`{"type":"object","properties":{"context":{"type":"string"}},"required":["context"]}`)}}}, nil
	})
}
