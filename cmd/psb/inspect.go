package main

import (
	"unicode"

	"psb/cmd/psb/report"
	"psb/pythonshim"
)

// inspection is what the program said of one variable.
type inspection struct{ state, text string }

// inspectable refuses a run whose variables nobody could tell.
func (j *job) inspectable() error {
	if len(j.opts.inspect) == 0 || j.plan.PythonLayer.Present {
		return nil
	}
	return refuse("run it without --inspect", "--inspect: psb's code is not inside Python here: %s", j.plan.PythonLayer.Why)
}

// inspect takes the program's word on a variable; of several the last one counts.
func (s *supervisor) inspect(n pythonshim.Note) {
	if s.inspected == nil {
		s.inspected = map[string]inspection{}
	}
	s.inspected[n.Args[0]] = inspection{n.Args[1], n.Args[2]}
}

// tellInspected prints what was asked for, in that order, and keeps it for the report. It is the program's word, and nothing is judged by it.
func (j *job) tellInspected(said map[string]inspection) {
	for _, name := range j.opts.inspect {
		got, ok := said[name]
		if !ok {
			got.state = "untold"
		}
		switch got.state {
		case "value":
			j.w.ui.say("inspect: %s = %s", name, plainText(got.text))
		case "missing":
			j.w.ui.say("inspect: %s: the program has no such variable", name)
		case "failed":
			j.w.ui.say("inspect: %s: its repr raised %s", name, plainText(got.text))
		default:
			got = inspection{state: "untold"}
			j.w.ui.say("inspect: %s: not told: Python did not come to its end", name)
		}
		j.inspected = append(j.inspected, report.Inspected{Name: name, State: got.state, Text: got.text})
	}
}

// identifier: a name as Python has them.
func identifier(s string) bool {
	for i, c := range s {
		if c != '_' && !unicode.IsLetter(c) && (i == 0 || !unicode.In(c, unicode.Digit, unicode.Mn, unicode.Mc)) {
			return false
		}
	}
	return s != ""
}
