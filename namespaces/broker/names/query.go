package names

import (
	"errors"

	"golang.org/x/net/dns/dnsmessage"
)

const (
	badVersion = dnsmessage.RCode(16) // BADVERS of RFC 6891, which needs the OPT record

	headerBytes = 12
	ourSize     = 1232 // bytes of a datagram that we offer to take, as all servers do since 2020 (dnsflagday.net)
)

// query is what of a message an answer depends on.
type query struct {
	head     dnsmessage.Header
	question []dnsmessage.Question // none or one
	edns     bool
	dnssecOK bool
}

// read takes a message apart. ok is false for what gets no answer: less than a header, or itself an answer. A code other than success is the
// answer to a message that cannot be taken further.
func read(message []byte) (q query, code dnsmessage.RCode, ok bool) {
	var p dnsmessage.Parser
	var err error
	if q.head, err = p.Start(message); err != nil || q.head.Response {
		return q, 0, false
	}
	if q.head.OpCode != 0 {
		return q, dnsmessage.RCodeNotImplemented, true
	}
	asked, err := p.Question()
	if err != nil || p.SkipQuestion() != dnsmessage.ErrSectionDone || p.SkipAllAnswers() != nil || p.SkipAllAuthorities() != nil {
		return q, dnsmessage.RCodeFormatError, true
	}
	version, err := q.options(&p)
	if err != nil {
		return q, dnsmessage.RCodeFormatError, true
	}
	q.question = []dnsmessage.Question{asked}
	if version != 0 {
		return q, badVersion, true
	}
	return q, dnsmessage.RCodeSuccess, true
}

// options looks for the OPT record, of which there is one at most (RFC 6891, 6.1.1).
func (q *query) options(p *dnsmessage.Parser) (version byte, err error) {
	for {
		h, err := p.AdditionalHeader()
		if err == dnsmessage.ErrSectionDone {
			return version, nil
		}
		if err != nil {
			return 0, err
		}
		if h.Type == dnsmessage.TypeOPT {
			if q.edns || h.Name.String() != "." {
				return 0, errors.New("a second OPT record, or one with a name")
			}
			q.edns, q.dnssecOK, version = true, h.TTL&(1<<15) != 0, byte(h.TTL>>16)
		}
		if err := p.SkipAdditional(); err != nil {
			return 0, err
		}
	}
}

// answer puts a message together. What does not fit into most bytes goes without its records, marked as cut off, so that the program asks
// again by TCP.
func (q *query) answer(code dnsmessage.RCode, records []dnsmessage.Resource, most int) []byte {
	m := dnsmessage.Message{
		Header: dnsmessage.Header{ID: q.head.ID, Response: true, OpCode: q.head.OpCode, RecursionDesired: q.head.RecursionDesired,
			RecursionAvailable: true, CheckingDisabled: q.head.CheckingDisabled, RCode: code & 15},
		Questions: q.question,
		Answers:   records,
	}
	if q.edns {
		var h dnsmessage.ResourceHeader
		// It cannot fail.
		_ = h.SetEDNS0(ourSize, code, q.dnssecOK)
		m.Additionals = []dnsmessage.Resource{{Header: h, Body: &dnsmessage.OPTResource{}}}
	}
	b, err := m.Pack()
	if err == nil && len(b) > most {
		m.Truncated, m.Answers = true, nil
		b, err = m.Pack()
	}
	if err == nil && len(b) > most {
		m.Questions, m.Additionals = nil, nil
		b, err = m.Pack()
	}
	if err != nil || len(b) > most {
		return nil
	}
	return b
}
