package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"psb/policy"
	"psb/policy/plan"
)

// subcommands are the first words that are not a script's name; a script called like one runs as ./name.
var subcommands = []string{"exec", "explain", "policy", "replay", "mcp", "tools", "doctor", "completion", "version", "help", "--help", "-h"}

// askedByShells are the hidden subcommands by which a completion script asks what could stand next.
var askedByShells = []string{cobra.ShellCompRequestCmd, cobra.ShellCompNoDescRequestCmd}

func isSubcommand(word string) bool {
	return slices.Contains(subcommands, word) || slices.Contains(askedByShells, word)
}

// subcommand runs one. The grammar of `exec` and `explain` is a run line's, so cobra leaves their words alone.
func subcommand(w *world, args []string) (int, error) {
	if slices.Contains(askedByShells, args[0]) && len(args) > 1 {
		if offered, files, ok := completeRun(args[1:]); ok {
			return 0, offer(w.stdio[1], offered, files, args[0] == cobra.ShellCompRequestCmd)
		}
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
	root.SetFlagErrorFunc(mistakenFlag)
	straight := func(use, short string, f func(*world, []string) (int, error)) *cobra.Command {
		return &cobra.Command{Use: use, Short: short, DisableFlagParsing: true, RunE: func(_ *cobra.Command, args []string) error {
			code, err := f(w, args)
			*status = code
			return err
		}}
	}
	root.AddCommand(
		straight("exec [psb options] -- CMD ARGS", "run any command under the policy", execRun),
		straight("explain [--json|--timing] [the words of a run]", "print the plan, run nothing", explain),
		straight("doctor", "what this host can enforce, what is missing, how to get it", doctor),
		&cobra.Command{Use: "version", Short: "print the version", Args: cobra.NoArgs, Run: func(c *cobra.Command, _ []string) {
			c.Println("psb " + version)
		}},
		policyCommand(w, status),
		replayCommand(w, status),
		mcpCommand(w, status),
		toolsCommand(w, status),
	)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	if c, _, err := root.Find([]string{"completion"}); err == nil && c != root {
		c.Short = "print a completion script for bash, zsh, fish or powershell"
		c.Args = cobra.ArbitraryArgs
		c.RunE = func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return c.Help()
			}
			return &usageError{"completion: no script for " + plainText(args[0]), "psb completion bash, zsh, fish or powershell"}
		}
	}
	return root
}

// completeRun offers what could stand at the last of words where the words are a run line's: psb's own options and their values, the
// subcommands as first word, files otherwise. ok is false where cobra knows better.
func completeRun(words []string) (offered []string, files, ok bool) {
	before, last := words[:len(words)-1], words[len(words)-1]
	if len(before) > 0 {
		switch first := before[0]; {
		case first == "exec" || first == "explain":
			before = before[1:]
			if slices.Contains(before, "--") {
				return nil, true, true
			}
		case isSubcommand(first):
			return nil, false, false
		}
	}
	value := ""
	for i := 0; i < len(before); i++ {
		word := before[i]
		name, long := strings.CutPrefix(word, "--")
		switch {
		case !strings.HasPrefix(word, "-") || word == "-" || word == "-c" || word == "-m":
			return nil, true, true // the program's own words
		case long && !strings.Contains(name, "="):
			at := slices.IndexFunc(runOptions, func(o struct{ name, value, what string }) bool { return o.name == name })
			if at >= 0 && runOptions[at].value != "" {
				if i++; i == len(before) {
					value = runOptions[at].value
				}
			}
		}
	}
	switch {
	case value != "":
		offered, files = completeValue(value)
	case strings.HasPrefix(last, "-"):
		for _, o := range runOptions {
			offered = append(offered, "--"+o.name+"\t"+o.what)
		}
		if words[0] == "explain" {
			offered = append(offered, "--json\tprint the plan for machines", "--timing\tprint how long each stage of a start takes")
		}
	case len(words) == 1:
		files = true
		status := 0
		for _, c := range commandTree(&world{}, &status).Commands() {
			if c.IsAvailableCommand() || c.Name() == "help" {
				offered = append(offered, c.Name()+"\t"+c.Short)
			}
		}
	default:
		files = true
	}
	return slices.DeleteFunc(offered, func(s string) bool { return !strings.HasPrefix(s, last) }), files, true
}

// completeValue offers values of an option; files says that names of files are values, too.
func completeValue(kind string) (offered []string, files bool) {
	switch kind {
	case "file", "folder":
		return nil, true
	case "provider":
		return slices.Clone(providers), false
	case "layer":
		return append(slices.Clone(plan.DefaultRequire), "notify", "cgroups"), false
	case "limit":
		for _, n := range policy.LimitNames() {
			offered = append(offered, n+"=")
		}
	}
	return offered, false
}

// offer answers a completion script in cobra's form: one candidate a line, then what the shell shall do with them.
func offer(w io.Writer, offered []string, files, described bool) error {
	directive := cobra.ShellCompDirectiveNoFileComp
	if files {
		directive = cobra.ShellCompDirectiveDefault
	}
	if len(offered) > 0 && strings.HasSuffix(offered[0], "=") {
		directive |= cobra.ShellCompDirectiveNoSpace
	}
	for _, o := range offered {
		if !described {
			o, _, _ = strings.Cut(o, "\t")
		}
		if _, err := fmt.Fprintln(w, o); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, ":%d\n", directive)
	return err
}
