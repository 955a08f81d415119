package main

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"psb/policy"
	"psb/policy/plan"
)

// diff prints by what the second of two policies differs in rights from the first, riskiest first. status is 1 where it gives more.
func (e *editing) diff(names []string, asJSON bool) (status int, err error) {
	if names[0] == "-" && names[1] == "-" {
		return exitRefused, &usageError{"both policies cannot come from stdin", "psb policy diff - .py-sandboxes"}
	}
	var sides [2]*policy.Policy
	for i, name := range names {
		if sides[i], err = e.side(name); err != nil {
			return exitRefused, err
		}
	}
	m := e.macros // relative paths are graded as those of the second policy, or of the first where that has no folder
	for i := range sides {
		if names[i] != "-" && names[i] != emptyPolicy {
			m.Project = filepath.Dir(absolute(e.w.cwd, names[i]))
		}
	}
	list, err := policy.Compare(sides[0], sides[1], func(r policy.Rule) policy.Risk { return plan.RiskOf(r, m) })
	if err != nil {
		return exitRefused, refuse("", "%s", err)
	}
	told := tellDifferences(names, list)
	if asJSON {
		b, err := json.MarshalIndent(told, "", "  ")
		if err != nil {
			return exitRefused, err
		}
		_, err = fmt.Fprintf(e.w.stdio[1], "%s\n", b)
		return told.status(), err
	}
	for _, l := range told.lines() {
		if err := e.sayLine("%s", l); err != nil {
			return exitRefused, err
		}
	}
	return told.status(), nil
}

// emptyPolicy names the policy without a line, for a base that has no file.
const emptyPolicy = "/dev/null"

// side reads one of the two policies, with its includes. "-" is stdin, as a file of the working folder.
func (e *editing) side(name string) (*policy.Policy, error) {
	texts := map[string][]byte{}
	switch name {
	case emptyPolicy:
		texts[emptyPolicy] = nil
	case "-":
		text, err := io.ReadAll(io.LimitReader(e.w.stdio[0], policy.MaxSize+1))
		if err != nil {
			return nil, refuse("", "stdin: %s", err)
		}
		texts[absolute(e.w.cwd, name)] = text
	default:
		one := *e
		one.path = absolute(e.w.cwd, name)
		one.macros.Project = filepath.Dir(one.path)
		if !present(one.path) {
			return nil, refuse(emptyPolicy+" stands for a policy without a line", "policy %s: no such file", plainText(name))
		}
		return one.load()
	}
	p, err := policy.Load(e.reading(texts), name, e.macros)
	if err != nil {
		return nil, refuse("psb policy help", "%s", err)
	}
	return p, nil
}

// toldDiff is the answer, as --json prints it.
type toldDiff struct {
	Old         string           `json:"old"`
	New         string           `json:"new"`
	More        toldTiers        `json:"more"`
	Fewer       int              `json:"fewer"`
	Differences []toldDifference `json:"differences"`
}

type toldTiers struct {
	Never  int `json:"never"`
	Warn   int `json:"warn"`
	Normal int `json:"normal"`
}

func (t *toldTiers) count(tier policy.Tier) {
	switch tier {
	case policy.TierNever:
		t.Never++
	case policy.TierWarn:
		t.Warn++
	default:
		t.Normal++
	}
}

type toldDifference struct {
	Effect policy.Effect `json:"effect"`
	Kind   string        `json:"kind"`
	Tier   string        `json:"tier,omitempty"`
	Why    string        `json:"why,omitempty"`
	Op     string        `json:"op"`
	Object string        `json:"object,omitempty"`
	Value  string        `json:"value,omitempty"`
	File   string        `json:"file,omitempty"`
	Line   int           `json:"line,omitempty"`
	Others []toldSaid    `json:"others,omitempty"`
}

// toldSaid is a line of the other policy.
type toldSaid struct {
	Text string `json:"text"`
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
}

func tellDifferences(names []string, list []policy.Difference) toldDiff {
	told := toldDiff{Old: names[0], New: names[1], Differences: []toldDifference{}}
	for _, d := range list {
		x := toldDifference{Effect: d.Effect, Kind: d.Kind, Op: d.Op, Object: d.Object, Value: d.Value, File: d.Origin.File, Line: d.Origin.Line}
		for _, o := range d.Others {
			x.Others = append(x.Others, toldSaid{o.Text, o.Origin.File, o.Origin.Line})
		}
		switch {
		case d.Effect == policy.Fewer:
			told.Fewer++
		case d.Effect == policy.More:
			x.Tier, x.Why = d.Risk.Tier.String(), d.Risk.Why
			told.More.count(d.Risk.Tier)
		}
		told.Differences = append(told.Differences, x)
	}
	return told
}

func (t toldDiff) more() string {
	return policy.Tally(map[policy.Tier]int{policy.TierNever: t.More.Never, policy.TierWarn: t.More.Warn, policy.TierNormal: t.More.Normal})
}

// status is 1 where the new policy gives more, else 0: fewer rights are no news for who guards against more.
func (t toldDiff) status() int {
	if t.more() != "" {
		return 1
	}
	return 0
}

// lines words the differences, one a line, and counts them in the last.
func (t toldDiff) lines() []string {
	var out []string
	for _, d := range t.Differences {
		word := map[policy.Effect]string{policy.More: d.Tier, policy.Fewer: "fewer", policy.None: "no effect"}[d.Effect]
		line := fmt.Sprintf("%s%s: %s %s", at(d.File, d.Line), word, d.Kind, joined(d.Op, d.Object, d.Value))
		var why []string
		if d.Why != "" {
			why = append(why, d.Why)
		}
		for i, o := range d.Others {
			place := strings.TrimSuffix(at(o.File, o.Line), ": ")
			if i == 3 {
				why = append(why, fmt.Sprintf("and %d more", len(d.Others)-i))
				break
			}
			why = append(why, strings.TrimSuffix(fmt.Sprintf("%s %s (%s)", instead(d), o.Text, place), " ()"))
		}
		if len(why) > 0 {
			line += "  # " + strings.Join(why, "; ")
		}
		out = append(out, line)
	}
	switch more := t.more(); {
	case more != "" && t.Fewer > 0:
		out = append(out, fmt.Sprintf("more rights: %s; fewer rights: %d", more, t.Fewer))
	case more != "":
		out = append(out, "more rights: "+more)
	case t.Fewer > 0:
		out = append(out, fmt.Sprintf("fewer rights: %d", t.Fewer))
	default:
		out = append(out, "same rights")
	}
	return out
}

// instead says how the other lines stand to a difference: those of the old file are gone, those of the new are what is left.
func instead(d toldDifference) string {
	if d.Kind == "narrowed" {
		return "now"
	}
	return "was"
}

func at(file string, line int) string {
	if file == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d: ", file, line)
}

func joined(op, object, value string) string {
	return policy.Difference{Op: op, Object: object, Value: value}.String()
}
