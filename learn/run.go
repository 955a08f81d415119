package learn

import "slices"

// Run is a record read back: give Add to Replay. The zero Run is not ready: use NewRun.
type Run struct {
	Set   *Set
	Words map[string][]string // what Known told beside Knowledge: "about", "policy", "allow" … of who recorded
	End   *Ended              // nil: the record has no end
	Split *Split              // of a run of tests, see RunnerWord; nil for others. Its All is Set

	known   Knowledge
	answers map[[2]string]bool
	entries map[string][]string
}

// RunnerWord is the word of a run whose application and test runner have policies of their own, with the path of the runner's. It must be known
// before the first event.
const RunnerWord = "runner"

// NewRun gives an empty run.
func NewRun() *Run {
	return &Run{Set: NewSet(), Words: map[string][]string{}, known: Knowledge{Tables: map[string]bool{}}, answers: map[[2]string]bool{}, entries: map[string][]string{}}
}

// Add takes one event in.
func (r *Run) Add(e Event) {
	switch e := e.(type) {
	case Known:
		r.know(e)
	case Answered:
		if e.Question == "entries" && e.Yes {
			r.entries[e.Object] = append(slices.Grow(r.entries[e.Object], 1), e.List...)
		}
		r.answers[[2]string{e.Question, e.Object}] = e.Yes
	case Ended:
		r.End = &e
	default:
		if r.Word(RunnerWord) != "" && r.Split == nil {
			r.Split = NewSplit(r.known)
			r.Set = r.Split.All
		}
		if r.Split != nil {
			r.Split.Add(e)
			return
		}
		r.Set.Add(e)
	}
}

func (r *Run) know(e Known) {
	switch e.Word {
	case "bytecode":
		r.known.Bytecode = true
		return
	case "tables":
		for _, t := range e.List {
			r.known.Tables[t] = true
		}
		return
	}
	for _, f := range r.known.fields() {
		switch {
		case f.word != e.Word:
		case f.list != nil:
			*f.list = append(*f.list, e.List...)
			return
		case len(e.List) > 0:
			*f.one = e.List[0]
			return
		default:
			return
		}
	}
	r.Words[e.Word] = append(r.Words[e.Word], e.List...)
}

// Word gives the first value of a word, "" for none.
func (r *Run) Word(word string) string {
	if list := r.Words[word]; len(list) > 0 {
		return list[0]
	}
	return ""
}

// Knowledge gives what was known in the run. Its functions answer as they did then; what nobody asked then is not known: no, and nil.
func (r *Run) Knowledge() Knowledge {
	k := r.known
	answer := func(question string) func(string) bool {
		return func(object string) bool { return r.answers[[2]string{question, object}] }
	}
	k.Exists, k.SetEnv, k.Syscall, k.Writes = answer("exists"), answer("setenv"), answer("syscall"), answer("writes")
	k.Entries = func(dir string) []string { return r.entries[dir] }
	return k
}

// Ending is how the run ended, for Report.Ended; a record without an end is one of a part.
func (r *Run) Ending() Ended {
	if r.End == nil {
		return Ended{Partial: "the record has no end"}
	}
	return *r.End
}
