package main

import (
	"os"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// TestManNamesEveryCommand: what --help and completion offer stands in the man page, and each option of psb tools.
func TestManNamesEveryCommand(t *testing.T) {
	man, err := os.ReadFile("../../docs/man/psb.1")
	if err != nil {
		t.Fatal(err)
	}
	page := strings.ReplaceAll(string(man), `\-`, "-")
	status := 0
	root := commandTree(&world{}, &status)
	for _, c := range root.Commands() {
		if !isSubcommand(c.Name()) {
			t.Errorf("%s would be taken for a script", c.Name())
		}
		named := strings.Contains(page, ".It Cm "+c.Name()+"\n") || strings.Contains(page, ".It Cm "+c.Name()+" ")
		if c.IsAvailableCommand() && !named && c.Name() != "help" {
			t.Errorf("psb.1 does not tell of psb %s", c.Name())
		}
		if c.Name() == "tools" {
			c.Flags().VisitAll(func(f *pflag.Flag) {
				if !strings.Contains(page, "-"+f.Name+" ") && !strings.Contains(page, "-"+f.Name+"\n") {
					t.Errorf("psb.1 does not tell of psb tools --%s", f.Name)
				}
			})
		}
	}
	if !strings.Contains(longHelp, "psb tools ") {
		t.Error("psb --help does not tell of psb tools")
	}
}
