package mcpserver

import (
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// bounded keeps a whole result below what clients take. Each part has its own bound; this is for what they come to together.
func bounded(r *mcp.CallToolResult) *mcp.CallToolResult {
	if size(r) <= mostMessage {
		return r
	}
	kept := r.Content[:0:0]
	for _, c := range r.Content {
		if _, image := c.(*mcp.ImageContent); !image {
			kept = append(kept, c)
		}
	}
	r.Content = append(kept, &mcp.TextContent{Text: "[psb] the result was too large: images are left out, ask for fewer with return_files"})
	if size(r) <= mostMessage {
		return r
	}
	if rec, ok := r.StructuredContent.(*record); ok {
		rec.Program = nil
	}
	if size(r) <= mostMessage {
		return r
	}
	status := &mcp.TextContent{Text: "[psb] the result was too large and is left out; print less, or write to files and ask for some of them"}
	return &mcp.CallToolResult{Content: []mcp.Content{status}, IsError: true, Meta: r.Meta}
}

// size is that of a result as JSON; the SDK's own envelope adds a hundred bytes.
func size(r *mcp.CallToolResult) int {
	b, err := json.Marshal(r)
	if err != nil {
		return mostMessage + 1
	}
	return len(b)
}
