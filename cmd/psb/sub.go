package main

import (
	"slices"

	"github.com/spf13/cobra"
)

// subcommands are the first words that are not a script's name; a script called like one runs as ./name.
var subcommands = []string{"exec", "explain", "policy", "doctor", "completion", "version", "help", "--help", "-h"}

// notYet are subcommands of the contract that this build does not have.
var notYet = []string{"replay", "mcp"}

func isSubcommand(word string) bool {
	return slices.Contains(subcommands, word) || slices.Contains(notYet, word) && !present(word)
}

// subcommand runs one. The grammar of `exec` and `explain` is a run line's, so cobra leaves their words alone.
func subcommand(w *world, args []string) (int, error) {
	if slices.Contains(notYet, args[0]) {
		return exitRefused, refuse("psb help", "%s is not in this build", args[0])
	}
	status := 0
	root := commandTree(w, &status)
	root.SetArgs(args)
	root.SetOut(w.stdio[1])
	root.SetErr(w.stdio[2])
	err := root.Execute()
	if err != nil && status == 0 {
		status = exitRefused
	}
	return status, err
}

// commandTree is what help, completion and the man page are checked against.
func commandTree(w *world, status *int) *cobra.Command {
	root := &cobra.Command{Use: "psb", Short: "run Python with the rights written in one reviewed file", Long: longHelp,
		SilenceErrors: true, SilenceUsage: true, DisableFlagsInUseLine: true,
		Run: func(c *cobra.Command, _ []string) { _ = c.Help() }}
	root.SetUsageTemplate(usageText)
	root.CompletionOptions.HiddenDefaultCmd = false
	straight := func(use, short string, f func(*world, []string) (int, error)) *cobra.Command {
		return &cobra.Command{Use: use, Short: short, DisableFlagParsing: true, RunE: func(_ *cobra.Command, args []string) error {
			code, err := f(w, args)
			*status = code
			return err
		}}
	}
	root.AddCommand(
		straight("exec [psb options] -- CMD ARGS", "run any command under the policy", execRun),
		straight("explain [--json] [the words of a run]", "print the plan, run nothing", explain),
		straight("doctor", "what this host can enforce, what is missing, how to get it", doctor),
		&cobra.Command{Use: "version", Short: "print the version", Args: cobra.NoArgs, Run: func(c *cobra.Command, _ []string) {
			c.Println("psb " + version)
		}},
		policyCommand(w, status),
	)
	return root
}
