package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"psb/mcpserver"
)

// saidBy is a session's box as the server knows it, of which two questions wait: an order with standard input, and another.
func saidBy(session bool) (*boxProcess, *sessionBox, [2]*capture) {
	p := &boxProcess{ready: make(chan struct{}), begun: make(chan struct{}), over: make(chan struct{})}
	out := [2]*capture{newCapture(1 << 10), newCapture(1 << 10)}
	b := &sessionBox{p: p, waiting: map[int]*awaited{}}
	for id := 1; id <= 2; id++ {
		b.waiting[id] = &awaited{id: id, answer: make(chan *sessionSay, 1)}
	}
	b.waiting[1].opened = make(chan struct{})
	b.waiting[1].printed = func(s mcpserver.Stream, text []byte) { out[s].add(text) }
	if session {
		p.say = b.said
	}
	return p, b, out
}

// TestNonsenseEndsABox: what no psb says ends the hearing with an error, and harms nobody.
func TestNonsenseEndsABox(t *testing.T) {
	for _, c := range []struct {
		text    string
		session bool
		err     error // nil: a verdict
	}{
		{`{"Ready":{}}{"Begun":true}{"Verdict":{}}`, false, nil},
		{`{"Ready":{}}{"Ready":{}}{"Verdict":{}}`, false, errNonsense},
		{`{"Begun":true}{"Begun":true}`, false, errNonsense},
		{`{"Say":{"ID":1}}`, false, errNonsense},
		{`{"Say":{"ID":1,"Opened":true}}{"Say":{"ID":1,"Opened":true}}{"Say":{"ID":1,"Printed":"eA==","Stream":7}}{"Say":{"ID":2}}{"Say":{"ID":2}}{"Verdict":{}}`, true, nil},
		{``, false, io.EOF},
		{`{"Verdict":`, false, io.ErrUnexpectedEOF},
	} {
		p, _, _ := saidBy(c.session)
		if err := p.hear(strings.NewReader(c.text)); !errors.Is(err, c.err) || (p.verdict != nil) != (c.err == nil) {
			t.Errorf("%s: %v, verdict %v", c.text, err, p.verdict)
		}
	}
}

// saidRunner answers with one result.
type saidRunner struct{ result *mcpserver.Result }

func (r *saidRunner) Offer() mcpserver.Offer {
	return mcpserver.Offer{Ceilings: mcpserver.DefaultCeilings(), Profiles: []mcpserver.Profile{{Name: "default"}}, Networks: []string{"none"}}
}

func (r *saidRunner) Run(context.Context, *mcpserver.Request) (*mcpserver.Result, error) {
	return r.result, nil
}

// FuzzBoxWords: whatever comes from the psb behind a box, the server goes on, and its client gets an answer that is whole: of a size that clients take, with
// no character that steers, and a success only where the verdict says so.
func FuzzBoxWords(f *testing.F) {
	for _, text := range []string{
		`{"Ready":{"Failed":["numpy: x"]}}{"Begun":true}{"Verdict":{"Started":true,"Ordered":true,"Status":0,"Report":"eyJ2YWx1ZSI6eyJyZXByIjoiMSJ9fQ=="}}`,
		`{"Verdict":{"Started":true,"Status":3,"Reason":"exit","Wall":-5,"Left":["control group x"],"Files":[{"Path":"../\u202e","Size":-1,"Content":"eA=="}],"Denials":[{"Target":"\u001b","Count":-1}]}}`,
		`{"Verdict":{"Started":true,"Signal":"SIGKILL","Reason":"memory","Usage":{"OOMKills":18446744073709551615},"Limits":[{"Name":"memory","Value":1e300}]}}`,
		`{"Verdict":{"Cancelled":true}}`, `{"Verdict":{"Refusal":"a\nb","Hint":"[psb] ok"}}`, `{"Verdict":{"Started":true,"Kept":true,"Cancelled":true,"Reason":"interrupt"}}`,
		`{"Say":{"ID":1,"Opened":true}}{"Say":{"ID":1,"Printed":"eA==","Stream":1}}{"Say":{"ID":1,"Verdict":{"Started":true,"Kept":true}}}{"Say":{"ID":2,"File":{"Wrong":"x"}}}`,
		`{"Ready":{}}{"Ready":{}}`, `{"Say":{"ID":1,"Printed":"eA==","Stream":255}}`, `{"Say":{"ID":9}}`, "\xff", `[[[`,
	} {
		f.Add([]byte(text), false)
		f.Add([]byte(text), true)
	}
	r := &saidRunner{}
	s, err := mcpserver.New(mcpserver.Options{Structured: true}, r)
	if err != nil {
		f.Fatal(err)
	}
	h := s.Handler(mcpserver.HTTPOptions{Loopback: true})
	f.Fuzz(func(t *testing.T, text []byte, session bool) {
		p, b, out := saidBy(session)
		waits := b.waiting[1]
		if err := p.hear(bytes.NewReader(text)); (err == nil) != (p.verdict != nil) {
			t.Fatalf("%v, verdict %+v", err, p.verdict)
		}
		v := p.verdict
		select {
		case say := <-waits.answer:
			v = say.Verdict
		default:
		}
		q := &mcpserver.Request{Language: mcpserver.Python}
		r.result = boxResult(q, v, "no verdict", out[0].text(), out[1].text(), mcpserver.DefaultCeilings())
		ended := v != nil && v.Started && !v.Cancelled && v.Status == 0 && v.Signal == "" && !slices.Contains([]string{"wall", "memory", "output", "cpu_time"}, v.Reason)
		if (r.result.Status == mcpserver.OK) != ended {
			t.Fatalf("%s of %+v", r.result.Status, v)
		}
		good := ended && len(v.Left) == 0
		told, texts := answerOf(t, h)
		if told == good {
			t.Fatalf("isError %v of %+v", told, v)
		}
		for _, one := range texts {
			if i := strings.IndexFunc(one, func(c rune) bool {
				return c < ' ' && c != '\n' && c != '\t' && c != '\r' || c == 0x7f || c >= 0x202a && c <= 0x202e
			}); i >= 0 {
				t.Fatalf("%q is told", one)
			}
		}
	})
}

// answerOf calls run_python and gives isError and the texts of the answer.
func answerOf(t *testing.T, h http.Handler) (wrong bool, texts []string) {
	t.Helper()
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_python","arguments":{"code":"1"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	r := httptest.NewRequest("POST", mcpserver.Endpoint, strings.NewReader(body))
	r.Host = "localhost"
	for k, v := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "run_python"} {
		r.Header.Set(k, v)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	text := w.Body.String()
	for line := range strings.Lines(text) {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			text = data
		}
	}
	var got struct {
		Result *struct {
			IsError bool
			Content []struct{ Text, Name, URI string }
		}
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil || got.Result == nil || w.Body.Len() > 7<<20 {
		t.Fatalf("%d, %d bytes: %v: %.500s", w.Code, w.Body.Len(), err, w.Body)
	}
	for _, c := range got.Result.Content {
		texts = append(texts, c.Text, c.Name, c.URI)
	}
	return got.Result.IsError, texts
}

// FuzzOrderWord: of a line that the program of a session writes, nothing counts but the two words with the order's own name.
func FuzzOrderWord(f *testing.F) {
	for _, line := range []string{"open ID", "over ID 0", "over ID 255", "over ID 256", "over ID -1", "over ID +1", "over ID 0x1", "over  ID 1", "over OTHER 1", "open ID 1", "", "over ID 1 2", "\x00over ID 1"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		words := strings.Fields(line)
		word, status, ok := orderWord(words, "ID")
		again := strings.Join(words, " ")
		plain := again == "open ID"
		for n := range 256 {
			plain = plain || again == fmt.Sprintf("over ID %d", n)
		}
		if plain && !ok || ok && (word == "open" && again != "open ID" || word != "open" && status > 255) {
			t.Fatalf("%q: %s %d %v", line, word, status, ok)
		}
	})
}

// TestGivenUpIsCancelled: a call that was given up, and took too long to end, is told as cancelled; what is left of it is not known, and nothing waits.
func TestGivenUpIsCancelled(t *testing.T) {
	for _, session := range []bool{false, true} {
		p, _, _ := saidBy(session)
		pipe := func() (r, w *os.File) {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { r.Close(); w.Close() })
			return r, w
		}
		p.homes, p.home = newNurseries(time.Hour), &nursery{boxes: 1, retired: true, gone: make(chan struct{})}
		p.words, _ = pipe() // all of them are held to the end
		_, p.life = pipe()
		for i := range p.from {
			p.from[i], _ = pipe()
			p.reading.Add(1)
			go func() {
				defer p.reading.Done()
				p.out[i] = newCapture(1)
				p.out[i].read(p.from[i], func([]byte) {})
			}()
		}
		go p.listen()
		p.endWithin(time.Millisecond)
		r := boxResult(&mcpserver.Request{}, p.verdict, p.how, mcpserver.Text{}, mcpserver.Text{}, mcpserver.DefaultCeilings())
		if r.Status != mcpserver.Cancelled || r.Cleanup.State != mcpserver.NotKnown || !strings.Contains(r.Reason, "after it was given up") || lossOf(p.verdict).reason != "cancel" {
			t.Errorf("%+v, %v", r, lossOf(p.verdict))
		}
	}
}
