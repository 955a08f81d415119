package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"psb/policy"
)

// adder registers one command of psb policy.
type adder func(use, short string, args cobra.PositionalArgs, f func(e *editing, args []string) error) *cobra.Command

// answered makes a status that is an answer, and no failure, the command's own.
func answered(code int, err error) error {
	if err == nil && code != 0 {
		return &refusal{status: code}
	}
	return err
}

// upkeep registers the commands that compare, join and rewrite whole files.
func upkeep(sub adder, file *string) {
	var asJSON, check bool
	var out string
	sub("diff OLD NEW", "by what NEW gives more or fewer rights, riskiest first; status 1: more", cobra.ExactArgs(2), func(e *editing, a []string) error {
		return answered(e.diff(a, asJSON))
	}).Flags().BoolVar(&asJSON, "json", false, "print one object for machines")
	sub("merge FILE...", "join policies: what one allows is allowed, what one refuses is refused", cobra.MinimumNArgs(1), func(e *editing, a []string) error {
		return e.merge(a, out, *file != "")
	}).Flags().StringVarP(&out, "output", "o", "", "write to this `file`, not to stdout")
	sub("import FILE", "turn a key=value file of pysandboxes into a policy", cobra.ExactArgs(1), func(e *editing, a []string) error {
		return e.bring(a[0], out)
	}).Flags().StringVarP(&out, "output", "o", "", "write to this `file`, which must not be there, not to stdout")
	sub("fmt [FILE]", "write the file in its one form: order, spelling, blank lines; comments and meaning stay", cobra.MaximumNArgs(1), func(e *editing, a []string) error {
		if len(a) == 1 {
			e = newEditing(e.w, a[0])
		}
		return answered(e.format(check))
	}).Flags().BoolVar(&check, "check", false, "write nothing, print the file's name with status 1 where it is not in its one form")
}

// counting words a wrong number of words as psb does.
func counting(args cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, words []string) error {
		if err := args(c, words); err != nil {
			return &usageError{"policy " + c.Name() + ": " + counted(len(words), "word") + " after it do not fit", "psb policy " + c.Use}
		}
		return nil
	}
}

// mistakenFlag names the option that is nearest to a mistyped one.
func mistakenFlag(c *cobra.Command, err error) error {
	hint := "psb help " + strings.TrimPrefix(c.CommandPath(), "psb ")
	if _, name, ok := strings.Cut(err.Error(), "unknown flag: --"); ok {
		var known []string
		c.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
		c.InheritedFlags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
		if n := nearest(name, known); n != "" {
			hint = "did you mean --" + n + "?"
		}
	}
	return &usageError{strings.TrimPrefix(c.CommandPath(), "psb ") + ": " + plainText(err.Error()), hint}
}

// policyCommand is `psb policy …`: everything about the file, nothing about a run.
func policyCommand(w *world, status *int) *cobra.Command {
	var file string
	var forget, write bool
	root := &cobra.Command{Use: "policy", Short: "show, check, change and approve the policy file", Long: policyHelp, DisableFlagsInUseLine: true,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			var names []string
			for _, sub := range c.Commands() {
				names = append(names, sub.Name())
			}
			hint := "psb policy help"
			if n := nearest(args[0], names); n != "" {
				hint = "did you mean psb policy " + n + "?"
			}
			return &usageError{"policy: unknown command " + plainText(args[0]), hint}
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	root.PersistentFlags().StringVar(&file, "policy", "", "the policy `file`; otherwise ./"+policyName)
	wordy := func(c *cobra.Command) {
		c.Long = c.Short + "\n" + operations
		c.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveDefault
			}
			return policy.Ops(), cobra.ShellCompDirectiveNoFileComp
		}
	}
	sub := func(use, short string, args cobra.PositionalArgs, f func(e *editing, args []string) error) *cobra.Command {
		c := &cobra.Command{Use: use, Short: short, Args: counting(args), DisableFlagsInUseLine: true, RunE: func(_ *cobra.Command, words []string) error {
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
	root.SetFlagErrorFunc(mistakenFlag)
	words := cobra.MinimumNArgs(2)
	sub("show", "print the policy with its includes joined", cobra.NoArgs, func(e *editing, _ []string) error { return e.show() })
	sub("check", "every problem at once, and what would stop a run here", cobra.NoArgs, func(e *editing, _ []string) error { return e.check() })
	wordy(sub("add OP OBJECT...", "add a rule for each object, all or none; every other byte stays", words, func(e *editing, a []string) error { return e.add(a) }))
	wordy(sub("remove OP OBJECT", "take one rule out", words, func(e *editing, a []string) error { return e.remove(a) }))
	wordy(sub("why OP OBJECT", "say whether an access is allowed and by which line", words, func(e *editing, a []string) error {
		return answered(e.why(a))
	}))
	upkeep(sub, &file)
	var yes bool
	sub("allow-last", "ask about each access that the last run was refused, and add what you allow; status 1: something stays refused", cobra.NoArgs, func(e *editing, _ []string) error {
		return answered(e.allowLast(yes))
	}).Flags().BoolVar(&yes, "yes", false, "ask nothing, and add what is harmless")
	sub("approve", "show what changed and let the file as it is now count", cobra.NoArgs, func(e *editing, _ []string) error { return e.approve(forget) }).
		Flags().BoolVar(&forget, "forget", false, "forget the approval, and that there was one")
	sub("prune RECORD…", "list the lines that recorded runs never needed", cobra.MinimumNArgs(1), func(e *editing, a []string) error { return e.prune(a, write) }).
		Flags().BoolVar(&write, "write", false, "take them out of the file")
	root.AddCommand(&cobra.Command{Use: "export --to TARGET [-o DIR] [the words of a run]", Short: "write the plan of a run as another tool's configuration", Long: exportHelp,
		DisableFlagParsing: true, DisableFlagsInUseLine: true, RunE: func(_ *cobra.Command, args []string) error {
			code, err := exportPlan(w, args)
			*status = code
			return err
		}, ValidArgsFunction: func(_ *cobra.Command, args []string, last string) ([]string, cobra.ShellCompDirective) {
			offered, files := completeExport(args, last)
			if files {
				return offered, cobra.ShellCompDirectiveDefault
			}
			return offered, cobra.ShellCompDirectiveNoFileComp
		}})
	root.AddCommand(&cobra.Command{Use: "help", Short: "the file's format", Args: cobra.ArbitraryArgs, RunE: func(c *cobra.Command, _ []string) error {
		_, err := w.stdio[1].WriteString(policyHelp)
		return err
	}})
	return root
}
