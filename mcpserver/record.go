package mcpserver

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"unicode/utf8"
)

// SchemaVersion is that of a result's record.
const SchemaVersion = 1

// record is a result for machines. What the launcher says comes first; the program's words stand in one field of their own, and only where the
// client asked for structured results.
type record struct {
	SchemaVersion int            `json:"schema_version"`
	RunID         string         `json:"run_id,omitempty"`
	Status        Status         `json:"status"`
	Reason        string         `json:"reason,omitempty"`
	Hint          string         `json:"hint,omitempty"`
	RetryAfterS   float64        `json:"retry_after_s,omitempty"`
	Exit          exitRecord     `json:"exit"`
	WallS         float64        `json:"wall_s"`
	Approval      string         `json:"approval,omitempty"`
	Limits        []Limit        `json:"limits,omitempty"`
	Denials       []Denial       `json:"denials,omitempty"`
	MoreDenials   int            `json:"more_denials,omitempty"`
	Cleanup       Cleanup        `json:"cleanup"`
	Session       *sessionRecord `json:"session,omitempty"`
	Files         []fileRecord   `json:"files,omitempty"`
	MoreFiles     int            `json:"more_files,omitempty"`
	Delivery      []Trimmed      `json:"delivery,omitempty"`
	Receipt       *Receipt       `json:"receipt,omitempty"`
	Program       *programRecord `json:"program,omitempty"`
}

type exitRecord struct {
	Code   *int   `json:"code"`
	Signal string `json:"signal,omitempty"`
	Reason string `json:"reason,omitempty"`
}

type sessionRecord struct {
	SessionState
	IdleS      float64 `json:"idle_s"`
	ExpiresInS float64 `json:"expires_in_s"`
}

type fileRecord struct {
	Path    string `json:"path"`
	Bytes   int64  `json:"bytes"`
	SHA256  string `json:"sha256,omitempty"`
	MIME    string `json:"mime,omitempty"`
	Change  string `json:"change"`
	Omitted string `json:"omitted,omitempty"`
}

// programRecord is the program's word: nothing in it is a fact.
type programRecord struct {
	Untrusted bool           `json:"untrusted"` // always true
	Stdout    streamRecord   `json:"stdout"`
	Stderr    streamRecord   `json:"stderr"`
	Result    *valueRecord   `json:"result,omitempty"`
	Error     *ProgramError  `json:"error,omitempty"`
	Variables map[string]any `json:"variables,omitempty"`
	Figures   int            `json:"figures,omitempty"`
}

type streamRecord struct {
	Text         string `json:"text"`
	Base64       string `json:"base64,omitempty"` // the bytes, where Text is not them
	Bytes        int64  `json:"bytes"`
	Truncated    bool   `json:"truncated"`
	OmittedBytes int64  `json:"omitted_bytes,omitempty"`
}

type valueRecord struct {
	Type string            `json:"type"`
	Repr string            `json:"repr"`
	JSON json.RawMessage   `json:"json,omitempty"`
	MIME map[string]string `json:"mime,omitempty"`
	Cut  bool              `json:"cut,omitempty"`
}

func newRecord(r *Result, a *assembly) *record {
	rec := &record{SchemaVersion: SchemaVersion, RunID: r.ID, Status: r.Status, Reason: clean(r.Reason), Hint: clean(r.Hint), RetryAfterS: milli(r.Retry.Seconds()),
		Exit: exitRecord{r.Exit.Code, r.Exit.Signal, r.Exit.Reason}, WallS: milli(r.Wall.Seconds()), Approval: r.Approval, Limits: r.Limits, MoreDenials: r.More,
		Cleanup: r.Cleanup, MoreFiles: r.Unlisted, Delivery: a.trimmed}
	for _, d := range r.Denials {
		d.Target, d.Where, d.Hint, d.Rule = clean(d.Target), clean(d.Where), clean(d.Hint), clean(d.Rule)
		rec.Denials = append(rec.Denials, d)
	}
	for _, f := range r.Files {
		rec.Files = append(rec.Files, fileRecord{oneLine(f.Path), f.Size, f.SHA256, f.MIME, f.Change, f.Omitted})
	}
	if s := r.Session; s != nil {
		rec.Session = &sessionRecord{*s, milli(s.Idle.Seconds()), milli(s.Expires.Seconds())}
	}
	receipt := r.Receipt
	if !a.full {
		receipt.Configured = nil
	}
	if receipt.Configured != nil || receipt.Observed != nil || receipt.Reported != nil || receipt.Unknown != nil {
		rec.Receipt = &receipt
	}
	return rec
}

func milli(f float64) float64 { return math.Round(f*1000) / 1000 }

// withProgram is the record with the program's words, for structuredContent.
func (rec record) withProgram(r *Result, a *assembly) *record {
	p := r.Program
	out := &programRecord{Untrusted: true, Stdout: streamOf(p.Stdout, a.maxOutput), Stderr: streamOf(p.Stderr, a.maxOutput), Figures: len(p.Figures)}
	if v := p.Value; v != nil {
		out.Result = &valueRecord{short(v.Type, 200), clean(string(cutHead([]byte(v.Repr), a.maxOutput/2))), strictJSON(v.JSON, a.maxOutput), nil, v.Cut || len(v.Repr) > a.maxOutput/2}
		for _, kind := range sortedKeys(v.MIME) {
			if text := v.MIME[kind]; len(text) <= a.maxOutput/2 {
				if out.Result.MIME == nil {
					out.Result.MIME = map[string]string{}
				}
				out.Result.MIME[clean(kind)] = clean(text)
			}
		}
	}
	if p.Error != nil {
		out.Error = p.Error.cleaned(8, a.maxOutput)
	}
	for _, v := range p.Variables {
		if out.Variables == nil {
			out.Variables = map[string]any{}
		}
		v.Cut = v.Cut || len(v.Repr) > mostVariable
		v.Type, v.Repr, v.Error = short(v.Type, 200), short(v.Repr, mostVariable), short(v.Error, 400)
		out.Variables[short(v.Name, 1<<10)] = struct {
			Variable
			JSON json.RawMessage `json:"json,omitempty"`
		}{v, strictJSON(v.JSON, mostVariable)}
	}
	rec.Program = out
	return &rec
}

// mostVariable bounds the text of one variable among the data, in bytes.
const mostVariable = 8 << 10

// short is a clean text of at most so many bytes before it was cleaned.
func short(s string, most int) string { return clean(string(cutHead([]byte(s), most))) }

// strictJSON passes a JSON text of the program's on, if it is one and not too long.
func strictJSON(text string, most int) json.RawMessage {
	if text == "" || len(text) > most || !utf8.ValidString(text) || !json.Valid([]byte(text)) {
		return nil
	}
	return json.RawMessage(text)
}

func streamOf(t Text, most int) streamRecord {
	out := streamRecord{Bytes: t.Size(), OmittedBytes: t.Omitted}
	b := append(append([]byte{}, t.Head...), t.Tail...)
	if len(b) > most {
		head, tail := cutHead(b, most/2), cutTail(b, most/2)
		out.OmittedBytes += int64(len(b) - len(head) - len(tail))
		b = append(append([]byte{}, head...), tail...)
	}
	out.Truncated = out.OmittedBytes > 0
	if out.Text = clean(string(b)); out.Text != string(b) {
		out.Base64 = base64.StdEncoding.EncodeToString(b)
	}
	return out
}

// cleaned is an exception without harm, with so many of those it came from.
func (e *ProgramError) cleaned(chain, longest int) *ProgramError {
	const most = 64
	out := &ProgramError{Type: short(e.Type, 200), Message: short(e.Message, longest/4), Traceback: short(e.Traceback, longest)}
	for i, f := range e.Frames {
		if i == most {
			break
		}
		out.Frames = append(out.Frames, Frame{short(f.File, 400), f.Line, short(f.Function, 200), short(f.Source, 400)})
	}
	if e.Chained != nil && chain > 0 {
		out.Chained = e.Chained.cleaned(chain-1, longest)
	}
	return out
}
