package main

import (
	"bufio"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"psb/policy"
)

// lastOffer is one refused access of the last run as allow-last puts it.
type lastOffer struct {
	lastDenial
	rules []policy.Rule // that would allow it, as the file would hold them; none: why says what stands in the way
	tier  policy.Tier
	why   string
}

// allowLast shows what was refused in the last run under the policy, asks about each, or with yes takes the harmless ones, and edits the file:
// status 1 when something refused stays so.
func (e *editing) allowLast(yes bool) (int, error) {
	name := shown(e.w.cwd, e.path)
	run, err := readLast(lastFile(e.w, e.path))
	if nothingRefused(err) {
		return 0, e.sayLine("nothing was refused under %s", name)
	}
	if err != nil {
		return exitRefused, refuse("run the program again", "the record of the last run: %s", err)
	}
	offers, err := e.offers(run)
	if err != nil {
		return exitRefused, err
	}
	if len(offers) == 0 {
		return 0, e.sayLine("%s allows by now what was refused to %s at %s", name, plainText(run.Program), run.When.Local().Format("2006-01-02 15:04:05"))
	}
	if err := e.sayLine("refused to %s at %s:", plainText(run.Program), run.When.Local().Format("2006-01-02 15:04:05")); err != nil {
		return exitRefused, err
	}
	chosen := map[int]bool{}
	var ask func(o lastOffer) (bool, bool)
	switch {
	case yes:
		ask = func(o lastOffer) (bool, bool) { return e.harmless(o), true }
	case e.w.terminal():
		ask = byWord(e.w.stdio[0], e.w.ui.w)
	}
	var rules []policy.Rule
	going := true
	for i, o := range offers {
		if err := e.sayLine("  %s", o.line(e.w.cwd)); err != nil {
			return exitRefused, err
		}
		if len(o.rules) == 0 || ask == nil || !going {
			continue
		}
		chosen[i], going = ask(o)
		if chosen[i] {
			rules = append(rules, o.rules...)
		}
	}
	if ask == nil {
		return exitRefused, refuse("psb policy allow-last"+e.flag()+" --yes, for what is harmless", "a terminal is needed to ask")
	}
	if len(rules) > 0 {
		if err := e.change(func(old []byte) ([]byte, []policy.Change, error) { return policy.Edit(old, rules) }); err != nil {
			return exitRefused, err
		}
	}
	if left := len(offers) - count(chosen); left > 0 {
		e.w.ui.say("still refused: %d of %d", left, len(offers))
		return 1, nil
	}
	return 0, nil
}

// harmless: nothing to think of, and of files only the project's own.
func (e *editing) harmless(o lastOffer) bool {
	ours := !filepath.IsAbs(o.Object)
	for _, dir := range []string{e.macros.Project, e.macros.Cwd} {
		ours = ours || dir != "" && (strings.TrimSuffix(o.Object, "/") == dir || below(o.Object, dir))
	}
	return o.tier == policy.TierNormal && ours
}

func count(chosen map[int]bool) (n int) {
	for _, c := range chosen {
		if c {
			n++
		}
	}
	return n
}

// offers are the accesses that the policy as it is now refuses, in the order they came.
func (e *editing) offers(run *lastRun) (list []lastOffer, err error) {
	p, err := policy.Parse("", policy.New(""))
	if present(e.path) {
		p, err = e.load()
	}
	if err != nil {
		return nil, err
	}
	if p.Locked {
		return nil, refuse("", "%s is locked: rights are added by editing it", shown(e.w.cwd, e.path))
	}
	q, err := p.Expand(e.macros)
	if err != nil {
		return nil, refuse("psb policy check", "%s", err)
	}
	for _, d := range run.Denials {
		a := policy.Access{Op: d.Op, Object: d.Object}
		v := verdictOn(q, a)
		if v.Allowed {
			continue
		}
		o := lastOffer{lastDenial: d}
		switch {
		case v.Blocker != nil:
			o.why = fmt.Sprintf("%s refuses it", originWords(v.Blocker.Origin.File, v.Blocker.Origin.Line, v.Blocker.Origin.From))
		case nameOnly(a):
			o.why = "psb policy add" + e.flag() + " connect " + shellQuote(a.Object+":PORT")
		case a.Op == policy.OpSyscall:
			o.why = syscallHint(a.Object)
		default:
			rules := asRules(q, a)
			for _, r := range rules {
				r = r.In(filepath.Dir(e.path), e.macros)
				r.Why = ""
				if tier, why := policy.TierOf(r, e.macros); tier > o.tier || o.why == "" {
					o.tier, o.why = max(tier, o.tier), why
				}
				o.rules = append(o.rules, r)
			}
			if o.tier == policy.TierNever {
				o.rules = nil
			}
		}
		list = append(list, o)
	}
	return list, nil
}

// line words an offer: what was refused, where, how often, and what to think of.
func (o lastOffer) line(cwd string) string {
	d := denial{Access: policy.Access{Op: o.Op, Object: o.Object}, Op: string(o.Op), Object: o.Object, Where: o.Where, Count: o.Count}
	s := strings.TrimPrefix(d.line(cwd), "denied: ")
	switch {
	case o.tier > policy.TierNormal:
		s += "  ! " + o.why
	case o.why != "":
		s += "  " + o.why
	}
	return s
}

// byWord asks about one offer after the other; going is false once somebody has had enough, or nobody answers.
func byWord(from io.Reader, to io.Writer) func(o lastOffer) (yes, going bool) {
	in := bufio.NewReader(from)
	return func(lastOffer) (bool, bool) {
		fmt.Fprint(to, "psb: allow it? [y/N/q] ")
		line, err := in.ReadString('\n')
		word := strings.ToLower(strings.TrimSpace(line))
		return err == nil && (word == "y" || word == "yes"), err == nil && word != "q"
	}
}
