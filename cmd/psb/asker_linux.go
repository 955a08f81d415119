// Does to the process: asks a person at the terminal while the box is paused; opens host files the person allowed and hands them in.
// Undone: the box goes on after each answer; what was handed in stays the program's.
// Preconditions: a terminal; the filter has a listener; Linux 5.9 (SECCOMP_IOCTL_NOTIF_ADDFD).
// Called by: run.go through watcher.
// Proved by: TestAskAnswers, TestAskNetwork, TestAskNever, TestAskRaces, TestAskNotPaused.

package main

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"psb/learn"
	"psb/namespaces"
	"psb/namespaces/broker"
	"psb/policy"
	"psb/policy/plan"
	"psb/seccomp"
)

// asker is a supervisor that asks before it refuses: connects by the broker's judge, files where open and openat come to it.
type asker struct {
	*supervisor
	tty   console
	box   *namespaces.Box
	walls walls
	known learn.Knowledge
	one   sync.Mutex // one question at a time
	said  answers
	calls atomic.Int64 // signals that end most programs: the question has no answer then
	cut   cutShort
}

// cutShort is the question that a signal ended last. Another thread may have taken the signal from the one that asked and not run its handler
// yet: that one asks again before it knows, see allowed.
type cutShort struct {
	access policy.Access
	tid    int
	told   bool // a second time
}

// soon is how long the box runs, so that a signal's handler has been run, before what it cut short is told so again.
const soon = 100 * time.Millisecond

func (x *asker) heard() { x.calls.Add(1) }

// newAsker refuses what cannot be asked.
func newAsker(s *supervisor) (*asker, error) {
	j := s.j
	switch {
	case j.policy.Locked:
		return nil, refuse("", "%s is locked: nothing can be allowed by --ask", j.shownPolicy())
	case !j.facts.seccomp.Notify:
		return nil, refuse("psb doctor", "--ask needs seccomp notifications, which this host does not give")
	}
	term, _ := j.w.lookup("TERM")
	tty, err := openConsole(term)
	if err != nil {
		return nil, refuse("psb --explain-denials …, then psb policy allow-last", "--ask needs a terminal")
	}
	if below(j.plan.Command.Dir, "/tmp") || j.where.project != "" && below(j.where.project, "/tmp") {
		j.w.ui.say("files below /tmp are the box's own: about none there is asked")
	}
	return &asker{supervisor: s, tty: tty, walls: wallsOf(j.plan), known: j.knowledge(), said: newAnswers()}, nil
}

func (x *asker) filter() (seccomp.Program, bool, error) {
	o, err := x.j.enforceOptions()
	if err != nil {
		return seccomp.Program{}, false, err
	}
	x.rules = seccomp.Ask(o)
	x.listens = true
	p, err := buildFilter(x.j, x.rules)
	return p, true, err
}

func (x *asker) attend(box *namespaces.Box, _ int) error {
	x.box = box
	if err := box.Release(); err != nil {
		return err
	}
	fd, err := box.Listener()
	if err != nil {
		return err
	}
	x.judging, x.answering = askingJudge{x}, x.answer
	return x.listen(box, fd)
}

func (x *asker) end() {
	x.supervisor.end()
	x.tty.Close()
}

// answer answers one call.
func (x *asker) answer(r *seccomp.Request) seccomp.Answer {
	if r.Name == "open" || r.Name == "openat" {
		return x.opens(r)
	}
	return x.judge(r)
}

// allowed asks a person about an access that the policy does not allow, unless it was answered before.
// interrupted says that nobody answered because a signal came.
func (x *asker) allowed(a policy.Access, who string, tid int) (yes, interrupted bool) {
	x.one.Lock()
	defer x.one.Unlock()
	said, known := x.said.known(a)
	if !known && !x.said.enough {
		if same := (cutShort{a, tid, false}); x.cut == same {
			x.cut.told = true
			time.Sleep(soon)
			return false, true
		}
		before := x.calls.Load()
		var asked bool
		said, asked = x.ask(a, who, func() bool { return x.calls.Load() != before || x.gone(tid) })
		if x.calls.Load() != before {
			x.cut = cutShort{a, tid, false}
			return false, true
		}
		if !asked {
			return false, false // and asked the next time
		}
		if x.said.count() {
			x.tty.say(fmt.Sprintf("ask: that was question %d: all that follows is denied", mostQuestions))
		}
	}
	if x.said.keep(a, said) && said == lasting && !nameOnly(a) {
		x.write(a)
	}
	return said != deny, false
}

// mostRounds bounds how often one question is put again because the box did not stay paused.
const mostRounds = 3

// ask puts one question; asked is false where nobody can be asked now. The box is paused meanwhile, so that nothing in it writes over the
// question; without a pid namespace only the thread that asked waits. A yes that was said while something ran is none.
func (x *asker) ask(a policy.Access, who string, gone func() bool) (said answer, asked bool) {
	if !x.tty.front() {
		return deny, false
	}
	paused := x.box.Pause()
	if paused {
		defer x.box.Resume()
	}
	lines, prompt, lasts := x.question(a, who)
	for range mostRounds {
		if paused && !x.box.Resting() && !x.box.Settle() {
			break
		}
		switch key := x.tty.ask(lines, prompt, gone); {
		case key == 'q':
			x.said.enough = true
			return deny, true
		case key != 'o' && key != 'y' && key != 'a':
			return deny, true
		case paused && !x.box.Resting():
			x.tty.say("ask: something in the box ran meanwhile: once more")
		case key == 'a' && lasts:
			return lasting, true
		default:
			return once, true
		}
	}
	x.said.enough = true
	x.tty.say("ask: the program does not stay paused: this is denied, and all that follows")
	return deny, true
}

// question words a question; lasts says that the answer may become a line in the policy.
func (x *asker) question(a policy.Access, who string) (lines []string, prompt string, lasts bool) {
	what := "ask: " + string(a.Op) + " " + unmistakable(shownObject(x.j.w.cwd, a.Object))
	if who != "" {
		what += " (" + unmistakable(who) + ")"
	}
	lines, prompt = []string{what}, "o this run, "
	sensitive := policy.Sensitive(a.Object, x.j.macros)
	lasts = !sensitive && x.j.where.exists && utf8.ValidString(a.Object)
	if sensitive {
		lines = append(lines, "ask: think before you give that away")
	} else if why := x.risk(a); why != "" {
		lines = append(lines, "ask: think first: "+why)
	}
	if lasts {
		prompt += "a always (a line in " + plainText(x.j.shownPolicy()) + "), "
	}
	return lines, prompt + "d deny, q deny this and all that follows: ", lasts
}

// risk says what makes an access more than harmless, in the words of allow-last; that a host is on the network the question says itself.
func (x *asker) risk(a policy.Access) (why string) {
	if nameOnly(a) {
		return ""
	}
	for _, r := range asRules(x.j.policy, a) {
		risk := policy.RiskOf(r, x.j.macros)
		if risk.Tier > policy.TierNormal && (risk.Mark || a.Op != policy.OpConnect) {
			why = risk.Why
		}
	}
	return why
}

// unmistakable is a name that cannot look like the words around it.
func unmistakable(name string) string {
	if strings.ContainsAny(name, " ()") {
		return strconv.Quote(name)
	}
	return plainText(name)
}

// gone: the box ends, or the thread that asked.
func (x *asker) gone(tid int) bool {
	select {
	case <-x.box.Done():
		return true
	default:
	}
	_, err := os.Stat(fmt.Sprintf("/proc/%d", tid))
	return err != nil
}

// write makes an answer last. What psb says of it goes to the terminal: the program's output is the program's.
func (x *asker) write(a policy.Access) {
	quiet := *x.j.w
	quiet.stdio[1] = x.tty.File
	e := newEditing(&quiet, x.j.where.policy)
	rules := asRules(x.j.policy, a)
	for i, r := range rules {
		rules[i] = r.In(filepath.Dir(e.path), e.macros)
	}
	if err := e.change(func(old []byte) ([]byte, []policy.Change, error) { return policy.Edit(old, rules) }); err != nil {
		fmt.Fprintf(x.tty, "psb: not written: %s\n", plainLine(err.Error()))
	}
}

// askingJudge is the policy, and a person where it does not allow.
type askingJudge struct{ *asker }

// Decide asks about connects.
func (g askingJudge) Decide(a policy.Access) policy.Verdict {
	v := g.j.policy.Decide(a)
	if g.j.askable(&g.known, a, v) {
		v.Allowed, _ = g.allowed(a, "", g.box.Program())
	}
	return v
}

// RulesName asks about a name that no rule could reach: the look-up itself tells somebody outside that name.
func (g askingJudge) RulesName(name string) bool {
	v := g.j.policy.JudgeName(name)
	if v.Allowed {
		return true
	}
	a := policy.Access{Op: policy.OpConnect, Object: hostName(name)}
	if !g.j.askable(&g.known, a, v) {
		return false
	}
	yes, _ := g.allowed(a, "", g.box.Program())
	return yes
}

// PublishAt is the policy's: nobody is asked about servers.
func (g askingJudge) PublishAt(asked netip.AddrPort, udp bool) []netip.AddrPort {
	return g.j.policy.PublishAt(asked, udp)
}

// Unasked is the policy alone.
func (g askingJudge) Unasked() broker.Judge { return g.j.policy }

var _ broker.Judge = askingJudge{}

// program names what a thread runs, for the question; it is the program's own word for nothing: the kernel's name of the file.
func program(tid int) string {
	exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", tid))
	if err != nil {
		return ""
	}
	return filepath.Base(exe)
}

// kindOfOpen is what a file's opening asks for, in the policy's words; ok is false for what is not asked about.
func kindOfOpen(o plan.Object, dir plan.Object, flags uint64) (op policy.Op, ok bool) {
	writes := flags&(oAccMode) != 0 || flags&oTrunc != 0
	switch {
	case flags&oPath != 0 || o.Err != "":
	case o.Kind == plan.File && flags&oExcl == oExcl: // it is there
	case o.Kind == plan.File && writes:
		return policy.OpWrite, true
	case o.Kind == plan.File:
		return policy.OpRead, true
	case o.Kind == plan.Absent && flags&oCreat != 0 && dir.Kind == plan.Dir:
		return policy.OpCreate, true
	}
	return "", false
}
