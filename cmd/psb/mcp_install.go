package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

// installing is what `psb mcp config` and `install` are asked.
type installing struct{ client, url, name, file string }

func (i *installing) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&i.client, "client", "", "whose configuration, a `name`: "+strings.Join(mcpClientNames(), ", "))
	f.StringVar(&i.url, "url", "", "a psb mcp --http at this `URL`, instead of one that the client starts")
	f.StringVar(&i.name, "name", "psb", "the server's `name` there")
	_ = c.RegisterFlagCompletionFunc("client", cobra.FixedCompletions(mcpClientNames(), cobra.ShellCompDirectiveNoFileComp))
}

// mcpConfigCommand prints what a client needs; it writes nothing.
func mcpConfigCommand(w *world, status *int) *cobra.Command {
	var i installing
	c := &cobra.Command{Use: "config --client NAME [-- options of psb mcp]", Short: "print the configuration for a client", DisableFlagsInUseLine: true,
		RunE: func(_ *cobra.Command, args []string) error {
			return ended125(status, printMCPConfig(w, &i, args))
		}}
	i.flags(c)
	return c
}

// mcpInstallCommand adds psb to a client's configuration.
func mcpInstallCommand(w *world, status *int) *cobra.Command {
	var i installing
	c := &cobra.Command{Use: "install --client NAME [-- options of psb mcp]", Short: "add psb to a client's configuration, keeping a copy of what was there", DisableFlagsInUseLine: true,
		RunE: func(_ *cobra.Command, args []string) error {
			return ended125(status, installMCP(w, &i, args))
		}}
	i.flags(c)
	c.Flags().StringVar(&i.file, "file", "", "the client's `file`, where it is not the usual one")
	return c
}

func ended125(status *int, err error) error {
	*status = 0
	if err != nil {
		*status = refusedStatus(err)
	}
	return err
}

// entry is what stands in the client's file.
func (i *installing) entry(w *world, c *mcpClient, more []string) (any, error) {
	if !isProfileName(i.name) {
		return nil, &usageError{"--name " + plainText(i.name) + ": a-z 0-9 _ - are needed", "psb mcp install --client " + c.name}
	}
	if i.url != "" {
		if len(more) > 0 {
			return nil, &usageError{"options of psb mcp do not go with --url: that server has its own", "psb mcp config --client " + c.name + " --url " + plainText(i.url)}
		}
		if !strings.HasPrefix(i.url, "http://") && !strings.HasPrefix(i.url, "https://") {
			return nil, &usageError{"--url " + plainText(i.url) + ": http:// or https:// is needed", "http://127.0.0.1:8080/mcp"}
		}
		return c.http(i.url), nil
	}
	return c.local(ownPath(w), append([]string{"mcp"}, more...)), nil
}

// ownPath is psb as the client will find it: clients are not started from a shell, so a name alone is not enough.
func ownPath(w *world) string {
	name := w.argv[0]
	if strings.ContainsRune(name, '/') {
		return absolute(w.cwd, name)
	}
	if p, err := exec.LookPath(name); err == nil {
		return absolute(w.cwd, p)
	}
	if p, err := os.Executable(); err == nil {
		return p
	}
	return name
}

func printMCPConfig(w *world, i *installing, more []string) error {
	c, err := findMCPClient(i.client)
	if err != nil {
		return err
	}
	entry, err := i.entry(w, c, more)
	if err != nil {
		return err
	}
	text, err := c.merged(nil, i.name, entry)
	if err != nil {
		return err
	}
	w.ui.say("for %s:", plainText(c.where(w)))
	_, err = w.stdio[1].Write(text)
	return err
}

// where a client's file lies: clients go by HOME, whatever the account's line says.
func (c *mcpClient) where(w *world) string {
	home, _ := w.lookup("HOME")
	if !filepath.IsAbs(home) {
		home = w.id.Home
	}
	config, _ := w.lookup("XDG_CONFIG_HOME")
	if !filepath.IsAbs(config) {
		config = filepath.Join(home, ".config")
	}
	return c.path(home, config)
}

// installMCP is read → merge → copy → replace. A file that cannot be understood is left alone, and what to add is printed.
func installMCP(w *world, i *installing, more []string) error {
	c, err := findMCPClient(i.client)
	if err != nil {
		return err
	}
	entry, err := i.entry(w, c, more)
	if err != nil {
		return err
	}
	file := c.where(w)
	if i.file != "" {
		file = absolute(w.cwd, i.file)
	}
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real // people keep these files elsewhere, and link them
	}
	src, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return refuse("", "mcp install: %v", err)
	}
	there := err == nil
	text, err := c.merged(src, i.name, entry)
	if errors.Is(err, errSame) {
		w.ui.say("%s has it already", plainText(file))
		return nil
	}
	if err != nil {
		return refuse(fmt.Sprintf("psb mcp config --client %s prints what to add, or --name OTHER", c.name), "mcp install: %s: %v", plainText(file), err)
	}
	mode := os.FileMode(0o600)
	if there {
		if fi, err := os.Stat(file); err == nil {
			mode = fi.Mode().Perm()
		}
		copied, err := keepCopy(file, src, mode)
		if err != nil {
			return refuse("", "mcp install: a copy of %s: %v", plainText(file), err)
		}
		w.ui.say("what was there is kept as %s", plainText(copied))
	} else if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return refuse("", "mcp install: %v", err)
	}
	if err := replaceFile(file, text, mode); err != nil {
		return refuse("", "mcp install: %v", err)
	}
	w.ui.say("added %s to %s; start %s anew", i.name, plainText(file), c.name)
	return nil
}

// keepCopy writes what was there beside it, under a name that nothing has.
func keepCopy(file string, src []byte, mode os.FileMode) (string, error) {
	for n := 0; ; n++ {
		name := file + ".before-psb"
		if n > 0 {
			name += fmt.Sprintf("-%d", n)
		}
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if errors.Is(err, fs.ErrExist) && n < 1000 {
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = f.Write(src)
		if again := f.Close(); err == nil {
			err = again
		}
		return name, err
	}
}
