package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"psb/mcpserver"
)

// toolsHelp is what `psb help tools` prints above the options.
const toolsHelp = `psb tools prints the tools that psb mcp offers with the same options, as JSON for programs that speak another protocol.

  psb tools --format openai            a list for function calling; --strict: each argument is required and may be null
  psb tools --format mcp               as tools/list answers
  psb tools --format json              name, description, input_schema

Nothing is started. The tools are called through psb mcp.`

// toolsCommand is `psb tools`.
func toolsCommand(w *world, status *int) *cobra.Command {
	o := mcpOptions{slots: 1, message: 16 << 20, cold: true} // which decide nothing of what is offered; cold: no box is made
	var format string
	var strict bool
	c := &cobra.Command{Use: "tools [options]", Short: "print the schemas of psb mcp's tools as JSON", Long: toolsHelp, DisableFlagsInUseLine: true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return &usageError{"tools: " + plainText(args[0]) + " does not fit", "psb tools --format " + strings.Join(mcpserver.ToolFormats, "|")}
		},
		RunE: func(*cobra.Command, []string) error {
			return ended125(status, printTools(w, &o, format, strict))
		}}
	f := c.Flags()
	f.StringVar(&format, "format", "openai", "`form` of the list: "+strings.Join(mcpserver.ToolFormats, ", "))
	f.BoolVar(&strict, "strict", false, "every argument is required and may be null, for models that are held to the schema; with openai")
	o.offerFlags(f)
	_ = c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(mcpserver.ToolFormats, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// printTools asks the same server that psb mcp would start.
func printTools(w *world, o *mcpOptions, format string, strict bool) error {
	switch {
	case !slices.Contains(mcpserver.ToolFormats, format):
		return &usageError{"--format " + plainText(format) + ": no such form", "one of " + strings.Join(mcpserver.ToolFormats, ", ")}
	case strict && format != "openai":
		return &usageError{"--strict goes with --format openai", "psb tools --format openai --strict"}
	}
	if err := o.fit(); err != nil {
		return err
	}
	_, s, end, err := o.server(w)
	if err != nil {
		return err
	}
	defer end()
	text, err := s.TellTools(format, strict)
	if err != nil {
		return err
	}
	_, err = w.stdio[1].Write(text)
	return err
}
