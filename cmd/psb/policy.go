package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"psb/policy"
	"psb/policy/approval"
)

// policyCommand is `psb policy …`: everything about the file, nothing about a run.
func policyCommand(w *world, status *int) *cobra.Command {
	var file string
	var forget bool
	root := &cobra.Command{Use: "policy", Short: "show, check, change and approve the policy file", Long: policyHelp,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			names := []string{"show", "check", "add", "remove", "approve", "why", "help"}
			hint := "psb policy help"
			if n := nearest(args[0], names); n != "" {
				hint = "did you mean psb policy " + n + "?"
			}
			return &usageError{"policy: unknown command " + plainText(args[0]), hint}
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	root.PersistentFlags().StringVar(&file, "policy", "", "the policy `file`; otherwise ./"+policyName)
	sub := func(use, short string, args cobra.PositionalArgs, f func(e *editing, args []string) error) *cobra.Command {
		c := &cobra.Command{Use: use, Short: short, Args: args, RunE: func(_ *cobra.Command, words []string) error {
			err := f(newEditing(w, file), words)
			*status = refusedStatus(err)
			if err == nil {
				*status = 0
			}
			return err
		}}
		root.AddCommand(c)
		return c
	}
	words := cobra.MinimumNArgs(2)
	sub("show", "print the policy with its includes joined", cobra.NoArgs, func(e *editing, _ []string) error { return e.show() })
	sub("check", "parse and validate, every problem at once", cobra.NoArgs, func(e *editing, _ []string) error { return e.check() })
	sub("add OP OBJECT", "add one rule, every other byte stays", words, func(e *editing, a []string) error { return e.add(strings.Join(a, " ")) })
	sub("remove OP OBJECT", "take one rule out", words, func(e *editing, a []string) error { return e.remove(strings.Join(a, " ")) })
	sub("why OP OBJECT", "say whether an access is allowed and by which line", words, func(e *editing, a []string) error {
		code, err := e.why(strings.Join(a, " "))
		if err == nil && code != 0 {
			return &refusal{status: code}
		}
		return err
	})
	sub("approve", "let the file as it is now count", cobra.NoArgs, func(e *editing, _ []string) error { return e.approve(forget) }).
		Flags().BoolVar(&forget, "forget", false, "forget the approval, and that there was one")
	root.AddCommand(&cobra.Command{Use: "help", Short: "the file's format", Args: cobra.ArbitraryArgs, RunE: func(c *cobra.Command, _ []string) error {
		_, err := w.stdio[1].WriteString(policyHelp)
		return err
	}})
	return root
}

// editing is one policy file and what its words mean here.
type editing struct {
	w      *world
	path   string // absolute
	macros policy.Macros
}

func newEditing(w *world, file string) *editing {
	if file == "" {
		file = policyName
	}
	e := &editing{w: w, path: absolute(w.cwd, file)}
	e.macros = macros(w.id, filepath.Dir(e.path), "", "", "", w.lookup)
	e.macros.Cwd = w.cwd
	return e
}

func (e *editing) load() (*policy.Policy, error) {
	p, err := policy.Load(policy.ReadFile, shown(e.w.cwd, e.path), e.macros)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, refuse("psb --learn …, or psb policy add OP OBJECT", "policy %s: no such file", shown(e.w.cwd, e.path))
	}
	if err != nil {
		return nil, refuse("psb policy help", "%s", err)
	}
	return p, nil
}

func (e *editing) show() error {
	p, err := e.load()
	if err != nil {
		return err
	}
	for i, s := range p.Sources {
		if i > 0 {
			if _, err := fmt.Fprintf(e.w.stdio[1], "\n# included: %s\n", s.Name); err != nil {
				return err
			}
		}
		if _, err := e.w.stdio[1].Write(s.Bytes); err != nil {
			return err
		}
	}
	return nil
}

func (e *editing) check() error {
	p, err := e.load()
	if err != nil {
		return err
	}
	if _, err := p.Expand(e.macros); err != nil {
		return refuse("", "%s", err)
	}
	_, err = fmt.Fprintf(e.w.stdio[1], "%s: %d rules, no problem\n", shown(e.w.cwd, e.path), len(p.Rules))
	return err
}

func (e *editing) add(words string) error {
	r, err := policy.ParseRule(words, filepath.Dir(e.path), e.macros)
	if err != nil {
		return refuse(`psb policy add read data/x.csv`, "%s", err)
	}
	return e.change(func(old []byte) ([]byte, []policy.Change, error) { return policy.Edit(old, []policy.Rule{r}) })
}

func (e *editing) remove(words string) error {
	r, err := policy.ParseRule(words, filepath.Dir(e.path), e.macros)
	if err != nil {
		return refuse(`psb policy remove read data/x.csv`, "%s", err)
	}
	if !present(e.path) {
		return refuse("", "policy %s: no such file", shown(e.w.cwd, e.path))
	}
	return e.change(func(old []byte) ([]byte, []policy.Change, error) { return policy.Remove(old, r) })
}

// change edits the file and keeps it approved: whoever types a rule has read it. A file that was not approved before stays so.
func (e *editing) change(edit func(old []byte) ([]byte, []policy.Change, error)) error {
	store := approval.At(e.macros.Config)
	trusted := true
	if present(e.path) {
		p, err := e.load()
		if err != nil {
			return err
		}
		state, _, err := store.Check(e.path, p.Sources)
		if err != nil {
			return refuse("", "approvals: %s", err)
		}
		trusted = state == approval.Approved
	}
	var changes []policy.Change
	err := policy.Update(e.path, func(old []byte, exists bool) ([]byte, error) {
		if !exists {
			old = policy.New("")
		}
		src, list, err := edit(old)
		if err != nil {
			return nil, err
		}
		changes = list
		p, err := policy.Parse(shown(e.w.cwd, e.path), src)
		if err != nil {
			return nil, err
		}
		_, err = p.Expand(e.macros) // a rule that the next run would refuse is not written
		return src, err
	})
	if err != nil {
		return refuse("", "%s: %s", shown(e.w.cwd, e.path), err)
	}
	for _, c := range changes {
		if _, err := fmt.Fprintln(e.w.stdio[1], changeLine(shown(e.w.cwd, e.path), c)); err != nil {
			return err
		}
	}
	if !trusted {
		e.w.ui.say("%s was not approved before and is not now", shown(e.w.cwd, e.path))
		e.w.ui.hint("read it, then psb policy approve%s", e.flag())
		return nil
	}
	p, err := e.load()
	if err != nil {
		return err
	}
	if err := store.Approve(e.path, p.Sources); err != nil {
		return refuse("", "approvals: %s", err)
	}
	return nil
}

// changeLine words one change: the line as it is now, or the one that went.
func changeLine(file string, c policy.Change) string {
	switch {
	case c.New == "":
		return fmt.Sprintf("%s:%d removed: %s", file, c.Line, c.Old)
	case c.Old == "":
		return fmt.Sprintf("%s:%d added: %s", file, c.Line, c.New)
	}
	return fmt.Sprintf("%s:%d now: %s", file, c.Line, c.New)
}

func (e *editing) flag() string {
	if s := shown(e.w.cwd, e.path); s != policyName {
		return " --policy " + shellQuote(s)
	}
	return ""
}

func (e *editing) approve(forget bool) error {
	store := approval.At(e.macros.Config)
	if forget {
		return store.Forget(e.path)
	}
	p, err := e.load()
	if err != nil {
		return err
	}
	state, last, err := store.Check(e.path, p.Sources)
	if err != nil {
		return refuse("", "approvals: %s", err)
	}
	if state == approval.Approved {
		return nil
	}
	var diff bytes.Buffer
	fmt.Fprint(&diff, approval.Diff(last, p.Sources))
	if _, err := e.w.stdio[1].Write(diff.Bytes()); err != nil {
		return err
	}
	if err := store.Approve(e.path, p.Sources); err != nil {
		return refuse("", "approvals: %s", err)
	}
	return nil
}

// why answers with the line that decides: status 0 allowed, 1 refused.
func (e *editing) why(words string) (int, error) {
	a, err := policy.ParseAccess(words)
	if err != nil {
		return exitRefused, refuse(`psb policy why read data/x.csv`, "%s", err)
	}
	p, err := e.load()
	if err != nil {
		return exitRefused, err
	}
	q, err := p.Expand(e.macros)
	if err != nil {
		return exitRefused, refuse("", "%s", err)
	}
	if a, err = policy.Resolve(a, e.macros); err != nil {
		return exitRefused, refuse("", "%s", err)
	}
	if a.Op == policy.OpList && !strings.HasSuffix(a.Object, "/") {
		a.Object += "/"
	}
	v := q.Decide(a)
	switch {
	case v.Allowed:
		_, err = fmt.Fprintf(e.w.stdio[1], "allowed: %s (%s %s)\n", plainText(a.String()), originWords(v.By.Origin.File, v.By.Origin.Line, v.By.Origin.From), v.By.Pattern.Text)
		return 0, err
	case v.Blocker != nil:
		_, err = fmt.Fprintf(e.w.stdio[1], "refused: %s (%s %s)\n", plainText(a.String()), originWords(v.Blocker.Origin.File, v.Blocker.Origin.Line, v.Blocker.Origin.From), v.Blocker.Pattern.Text)
	default:
		_, err = fmt.Fprintf(e.w.stdio[1], "refused: %s (no rule)\n", plainText(a.String()))
	}
	return 1, err
}

// policyHelp is the format on one page; docs/policy.md has every word.
var policyHelp = strings.TrimLeft(`
The policy file .py-sandboxes: TOML, one rule a line. docs/policy.md is the full reference.

version = 1
[env]          # NAME = true (the host's value), "text" (this value), false (never); "LC_*" = true
[files]        # "path" = read | write (also reads) | exec | hide | device; "folder/" is everything below
               # "folder/" = create | list: that folder only; several: "bin/tool" = ["read", "exec"]
[net]          # "host:port" = connect | listen | deny
[syscalls]     # name = true | false
[limits]       # memory = "512M", memory_swap, cpus, cpu_time, wall = "60s", pids, file_size, disk, open_files, output
[sandbox]      # python, provider, require, allow_gaps
[python]       # shim = true

psb policy show | check                 the file with its includes; every problem at once
psb policy add | remove OP OBJECT       psb policy add read data/eu.csv
psb policy why OP OBJECT                which line decides; status 0 allowed, 1 refused
psb policy approve                      let the file as it is now count
`, "\n")
