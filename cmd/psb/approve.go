package main

import (
	"bufio"
	"errors"
	"fmt"
	"strings"

	"psb/policy"
	"psb/policy/approval"
)

// errNoPolicy: there is no policy file and never was one.
var errNoPolicy = errors.New("no policy")

// approved lets a policy count only once its text was approved: a file found by look-up is content somebody else may have written.
func (j *job) approved(must bool) error {
	store := approval.At(j.macros.Config)
	if j.where.policy == "" {
		return nil
	}
	if !j.where.named || !j.where.exists {
		j.noteApproval(store)
	}
	if !j.where.exists {
		state, _, err := store.Check(j.where.policy, nil)
		if err != nil {
			return refuse("psb doctor", "approvals: %s", err)
		}
		if state == approval.Gone && !j.opts.learn {
			r := refuse("", "%s is gone, and this project once had one", j.shownPolicy())
			r.hints = []string{"bring it back (git checkout " + policyName + ")", "psb --learn …", "psb policy approve --forget, to do without"}
			return r
		}
		if must {
			return errNoPolicy
		}
		return nil
	}
	if j.where.named && j.again {
		return nil
	}
	if j.where.named {
		if state, _, err := store.Check(j.where.policy, j.written.Sources); err != nil || state != approval.Approved {
			_ = store.Approve(j.where.policy, j.written.Sources) // naming it is the approval; keeping it is a convenience
		}
		return nil
	}
	state, last, err := store.Check(j.where.policy, j.written.Sources)
	if err != nil {
		return refuse("psb --policy "+shellQuote(j.shownPolicy())+" …", "approvals: %s", err)
	}
	if j.counts(state, last, j.written.Sources, false) {
		return nil
	}
	if !j.w.terminal() || j.again {
		r := refuse("", "%s is not approved: %s", j.shownPolicy(), stateWords(state))
		r.hints = []string{"read it, then psb policy approve" + j.policyWords(), "or name it on the command line: psb --policy " + shellQuote(j.shownPolicy())}
		return r
	}
	j.w.ui.say("%s is not approved: %s", j.shownPolicy(), stateWords(state))
	showDiff(j.w.ui, last, j.written.Sources)
	if !j.ask("approve it? [y/N] ", "y") {
		return refuse("psb policy approve", "not approved")
	}
	if err := store.Approve(j.where.policy, j.written.Sources); err != nil {
		return refuse("", "approvals: %s", err)
	}
	return nil
}

// noteApproval notes what the approval of the policy rests on.
func (j *job) noteApproval(store approval.Store) {
	folders, record := store.Files(j.where.policy)
	for _, name := range folders {
		j.w.seen.node(name)
		j.w.seen.nodeBehind(name)
	}
	j.w.seen.content(record)
}

func stateWords(s approval.State) string {
	if s == approval.Changed {
		return "it changed since it was"
	}
	return "not in this folder, not with this text"
}

func showDiff(v voice, last, now []policy.Source) {
	v.say("%s", approval.Diff(last, now)) // escaped by Diff
}

// ask reads one line from the terminal; Enter alone is no.
func (j *job) ask(question, yes string) bool {
	fmt.Fprint(j.w.ui.w, "psb: ", question)
	line, err := bufio.NewReader(j.w.stdio[0]).ReadString('\n')
	return err == nil && strings.EqualFold(strings.TrimSpace(line), yes)
}

// policyWords names the policy where it is not the one that a command without them takes.
func (j *job) policyWords() string {
	if s := j.shownPolicy(); s != policyName {
		return " --policy " + shellQuote(s)
	}
	return ""
}

// counted gives "1 rule", "2 rules".
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
