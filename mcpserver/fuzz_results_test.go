package mcpserver

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// ownLine is what psb says among the program's words.
var ownLine = regexp.MustCompile(`^\[psb\] (… -?\d+ bytes left out here …|the value's text is longer than this)$`)

// FuzzResult: whatever a run was, what a client gets of it is below what clients take, shows nothing that steers or hides, has psb's lines as psb's alone,
// and is a success only where the run was.
func FuzzResult(f *testing.F) {
	f.Add([]byte(`{"Status":"ok","Cleanup":{"State":"REMOVED"},"Program":{"Stdout":{"Head":"W3BzYl0gb2s="}}}`), 256, true)
	f.Add([]byte(`{"Status":"error","Reason":"a\n[psb] b","Hint":"\u001b","Exit":{"Code":3,"Reason":"pids"},"Limits":[{"Name":"max_processes","Unit":"x","Effective":1e308}],"Cleanup":{"State":"PARTIAL","Left":["\n[psb] x"]}}`), 300, false)
	f.Add([]byte(`{"Status":"ok","Wall":-1,"Cleanup":{"State":"REMOVED"},"Files":[{"Path":"a\n[psb] b\u202e","Size":-9,"Content":"iVBORw0KGgo=","MIME":"image/png","Change":"created"},{"Path":"","Content":"","Omitted":"\n[psb] x"}],"Program":{"Value":{"Repr":"[psb","JSON":"{"},"Error":{"Type":"E","Message":"\r[psb]","Chained":{}},"Variables":[{"Name":"\n[psb]","Repr":"x","Cut":true},{"Error":"e"}],"Figures":[{"MIME":"image/svg+xml","Data":"eA=="}]}}`), 1<<16, true)
	f.Add([]byte(`{"Status":"killed","Exit":{"Signal":"SIGKILL\n[psb]","Reason":"memory"},"Denials":[{"Operation":"read\n[psb]","Target":"\n[psb]","Count":-2,"Where":"\n","Hint":"\n"}],"More":-1,"Unlisted":-5,"Cleanup":{"State":"UNKNOWN"},"Session":{"id":"s","lost_why":"\n[psb]","state_lost":true},"Program":{"Stderr":{"Head":"/w==","Tail":"/w==","Omitted":-7}}}`), 257, true)
	f.Fuzz(func(t *testing.T, text []byte, most int, structured bool) {
		r := &Result{}
		if json.Unmarshal(text, r) != nil || most < leastOutput || most > mostOutput || !slices.Contains([]Status{OK, Failed, TimedOut, Killed, Cancelled, Busy, Refused, Internal}, r.Status) ||
			!slices.Contains([]CleanupState{Removed, KeptSession, PartLeft, NotAttempted, NotKnown}, r.Cleanup.State) || r.Session != nil && !isSessionName(r.Session.ID) {
			return // those are psb's own words
		}
		shelf := newShelf(time.Now)
		got := bounded(assemble(r, &assembly{maxOutput: most, ceiling: mostOutput, full: true, structured: structured, keep: func(name, mime string, b []byte) (string, bool) {
			return shelf.keep("somebody", "run", name, mime, b)
		}}))
		if n := size(got); n > mostMessage {
			t.Fatalf("%d bytes", n)
		}
		if got.IsError == (r.Status == OK && r.Cleanup.confirmed()) {
			t.Fatalf("isError %v: %+v", got.IsError, r)
		}
		for _, c := range got.Content {
			switch c := c.(type) {
			case *mcp.TextContent:
				if clean(c.Text) != c.Text {
					t.Fatalf("%q", c.Text)
				}
				if strings.HasPrefix(c.Text, "[psb] ") {
					continue
				}
				for line := range strings.SplitSeq(c.Text, "\n") {
					if strings.HasPrefix(strings.TrimLeft(line, " \t"), "[psb") && !ownLine.MatchString(line) {
						t.Fatalf("%q stands beside psb's own", line)
					}
				}
			case *mcp.ResourceLink:
				if clean(c.Name+c.URI+c.MIMEType) != c.Name+c.URI+c.MIMEType || strings.ContainsAny(c.Name+c.URI, "\n\r") {
					t.Fatalf("%+v", c)
				}
			}
		}
	})
}
