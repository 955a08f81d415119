package mcpserver

import (
	"encoding/base64"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// streamKey in the _meta of a call asks for what the program prints while it runs, beside a progress token; outputKey in the _meta of a progress
// notification brings it.
const (
	streamKey = "psb/stream"
	outputKey = "psb/output"
)

// mostPending bounds what waits for a client that reads slowly, in bytes of each stream; what does not fit is left out and counted. The run never
// waits for a client, and the result has the output in any case.
const mostPending = 1 << 20

// mostPiece bounds the bytes of one notification.
const mostPiece = 64 << 10

// outlet takes what a run prints to the client. nil takes nothing.
type outlet struct {
	more    chan struct{} // something waits
	mu      sync.Mutex
	waiting [2][]byte
	lost    [2]int64
}

// piece is a part of one stream; the bytes are the program's word.
type piece struct {
	Stream string `json:"stream"` // stdout, stderr
	Base64 string `json:"base64,omitempty"`
	Lost   int64  `json:"lost_bytes,omitempty"` // that were left out before these
}

// outletFor is one for a call that asks for it.
func outletFor(req *mcp.CallToolRequest) *outlet {
	if asked, _ := req.Params.Meta[streamKey].(bool); !asked || req.Params.GetProgressToken() == nil || req.Session == nil {
		return nil
	}
	return &outlet{more: make(chan struct{}, 1)}
}

// add never waits.
func (o *outlet) add(s Stream, b []byte) {
	if o == nil || int(s) >= len(o.waiting) {
		return
	}
	o.mu.Lock()
	if room := mostPending - len(o.waiting[s]); o.lost[s] > 0 || len(b) > room { // a gap is told before what follows it
		o.lost[s] += int64(len(b))
	} else {
		o.waiting[s] = append(o.waiting[s], b...)
	}
	o.mu.Unlock()
	select {
	case o.more <- struct{}{}:
	default:
	}
}

// wake is a channel that says when something waits; nil blocks for ever.
func (o *outlet) wake() <-chan struct{} {
	if o == nil {
		return nil
	}
	return o.more
}

// take gives what waits, in parts that fit into a notification, until there is nothing.
func (o *outlet) take() []piece {
	if o == nil {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	var out []piece
	for i, name := range []string{"stdout", "stderr"} {
		b := o.waiting[i]
		if len(b) > mostPiece {
			b = b[:mostPiece]
		}
		if len(b) > 0 {
			out = append(out, piece{Stream: name, Base64: base64.StdEncoding.EncodeToString(b)})
			o.waiting[i] = o.waiting[i][len(b):]
		}
		if len(o.waiting[i]) == 0 && o.lost[i] > 0 {
			out = append(out, piece{Stream: name, Lost: o.lost[i]})
			o.lost[i] = 0
		}
	}
	return out
}
