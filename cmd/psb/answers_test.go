package main

import (
	"fmt"
	"testing"

	"psb/policy"
)

// TestAnswersEnd: a run puts so many questions, look-ups of names among them, and then none; what is denied unasked is not remembered.
func TestAnswersEnd(t *testing.T) {
	s := newAnswers()
	for i := 1; i <= mostQuestions; i++ {
		a := policy.Access{Op: policy.OpConnect, Object: hostName(fmt.Sprintf("h%d.example", i))}
		if _, known := s.known(a); known || s.enough {
			t.Fatalf("question %d is not put: known %v, enough %v", i, known, s.enough)
		}
		if last := s.count(); last != (i == mostQuestions) {
			t.Fatalf("question %d is the last: %v", i, last)
		}
		s.keep(a, once)
	}
	if !s.enough {
		t.Error("more is asked")
	}
	for i := range 1000 {
		s.keep(policy.Access{Op: policy.OpRead, Object: fmt.Sprint("/f", i)}, deny)
	}
	if len(s.given) != 0 {
		t.Errorf("%d answers that nobody gave are kept", len(s.given))
	}
}

// TestAnswersCover: an answer counts for what a line would bring along, and for nothing more.
func TestAnswersCover(t *testing.T) {
	s := newAnswers()
	s.keep(policy.Access{Op: policy.OpRead, Object: "/r"}, lasting)
	s.keep(policy.Access{Op: policy.OpWrite, Object: "/w"}, lasting)
	s.keep(policy.Access{Op: policy.OpWrite, Object: "/d"}, deny)
	s.keep(policy.Access{Op: policy.OpCreate, Object: "/c"}, once)
	for _, tc := range []struct {
		op     policy.Op
		object string
		said   answer
		known  bool
	}{
		{policy.OpRead, "/w", once, true}, {policy.OpWrite, "/c", once, true}, {policy.OpRead, "/c", once, true},
		{policy.OpWrite, "/r", deny, false}, {policy.OpRead, "/d", deny, false}, {policy.OpCreate, "/w", deny, false}, {policy.OpRead, "/w/x", deny, false},
	} {
		if said, known := s.known(policy.Access{Op: tc.op, Object: tc.object}); said != tc.said || known != tc.known {
			t.Errorf("%s %s: %v, known %v", tc.op, tc.object, said, known)
		}
	}
}
