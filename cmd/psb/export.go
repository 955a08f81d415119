package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"psb/landlock"
	"psb/policy"
	"psb/policy/approval"
	"psb/policy/plan"
	"psb/policy/plan/export"
	"psb/seccomp"
)

const exportHelp = `psb policy export --to bwrap|systemd|oci|kubernetes [-o DIR] [the words of a run | psb options -- CMD ARGS]

Write the plan of a run as another tool's configuration, and name on standard error every line of the policy that the
tool cannot hold or cannot give. Nothing is run. One file goes to standard output; several go to the new folder DIR.
docs/export.md tells what each tool holds.
`

// exportWords is a parsed line of `psb policy export`.
type exportWords struct {
	to      export.Target
	out     string
	run     *runLine
	command []string // of the form -- CMD ARGS
}

// exportPlan is `psb policy export`: the plan of a run in another tool's words. It runs nothing.
func exportPlan(w *world, args []string) (int, error) {
	if isHelp(args) {
		_, err := w.stdio[1].WriteString(exportHelp)
		return 0, err
	}
	x, err := parseExport(args)
	if err != nil {
		return exitRefused, err
	}
	j, err := exportJob(w, x)
	if err != nil {
		return refusedStatus(err), err
	}
	made, err := j.export(x)
	if err != nil {
		return exitRefused, err
	}
	if err := j.putExport(x, made.Files); err != nil {
		return exitRefused, err
	}
	for _, r := range made.Remarks {
		w.ui.say("%s", r)
	}
	return 0, nil
}

// parseExport takes --to and -o from among psb's options; everything else is a run's.
func parseExport(args []string) (*exportWords, error) {
	x := &exportWords{}
	var rest []string
	at := 0
	for at < len(args) && strings.HasPrefix(args[at], "-") && args[at] != "--" {
		name, value, glued := strings.Cut(args[at], "=")
		switch {
		case name == "--to" || name == "-o":
			n := 1
			if !glued {
				if at+1 == len(args) {
					return nil, &usageError{name + " needs a value", "psb policy export --to bwrap -o box app.py"}
				}
				value, n = args[at+1], 2
			}
			if name == "--to" {
				x.to = export.Target(value)
			} else {
				x.out = value
			}
			at += n
		case strings.HasPrefix(name, "--"):
			n, err := (&runLine{}).long(args[at:])
			if err != nil || at+n > len(args) {
				n = 1 // parseRun says what is wrong
			}
			rest = append(rest, args[at:at+n]...)
			at += n
		default:
			rest = append(rest, args[at:]...)
			at = len(args)
		}
	}
	if !slices.Contains(export.Targets(), x.to) {
		words := make([]string, 0, len(export.Targets()))
		for _, t := range export.Targets() {
			words = append(words, string(t))
		}
		what := "export: --to is missing"
		if x.to != "" {
			what = "export: nothing is written for " + plainText(string(x.to))
		}
		return nil, &usageError{what, "--to " + strings.Join(words, ", --to ")}
	}
	if at < len(args) && args[at] == "--" {
		if x.command = args[at+1:]; len(x.command) == 0 {
			return nil, &usageError{"export: no command after --", "psb policy export --to bwrap -o box -- COMMAND ARGS"}
		}
	} else {
		rest = append(rest, args[at:]...)
	}
	var err error
	if x.run, err = parseRun(rest); err != nil {
		return nil, err
	}
	switch {
	case x.run.learn:
		return nil, &usageError{"export: --learn is a run", "psb --learn …, then export what it wrote"}
	case x.run.form == formInfo, x.command != nil && (x.run.form != formREPL || len(x.run.pyOpts) > 0):
		return nil, &usageError{"export: these words run nothing that could be exported", "psb policy export --to bwrap -o box app.py"}
	}
	return x, nil
}

// exportJob makes the plan. What this host lacks does not count: the other tool may be used on another one.
func exportJob(w *world, x *exportWords) (*job, error) {
	j := &job{w: w, opts: x.run.options, where: locate(x.run, w), look: newLook(w.seen)}
	if err := programThere(w, x.run, j.where); err != nil {
		return nil, err
	}
	j.facts = probe(w, false)
	j.setMacros()
	if err := j.loadPolicy(); err != nil {
		return nil, err
	}
	if err := j.checkTrust(); err != nil {
		return nil, err
	}
	if err := j.standsForExport(x.command == nil && takesPolicy(x.run.form)); err != nil {
		return nil, err
	}
	if err := j.findPython(); err != nil {
		if x.command == nil || j.opts.python != "" {
			return nil, err
		}
		always(w, &j.facts.host)
	}
	j.setMacros()
	if err := j.expand(); err != nil {
		return nil, err
	}
	cmd, err := j.exportCommand(x)
	if err != nil {
		return nil, err
	}
	j.policy.Shim = false
	j.opts.provider = string(plan.Namespaces)
	j.anyHost(x.to)
	if err := j.compile(plan.Enforce, cmd); err != nil {
		return nil, err
	}
	j.plan.Gaps = slices.DeleteFunc(j.plan.Gaps, func(g plan.Gap) bool { return g.Name == "python" }) // named among the remarks
	return j, j.openGaps()
}

// exportCommand is the command of a run, or of exec.
func (j *job) exportCommand(x *exportWords) (plan.Command, error) {
	if x.command == nil {
		return j.pythonCommand(x.run), nil
	}
	command, err := findCommand(j.w, x.command[0])
	if err != nil {
		return plan.Command{}, err
	}
	j.policy.Rules = append(j.policy.Rules, policy.Rule{Op: policy.OpExec, Origin: policy.Origin{From: "command line"},
		Pattern: policy.Pattern{Text: command, Object: command}})
	return plan.Command{Exec: command, Argv: x.command, Env: j.w.env, Dir: j.w.cwd}, nil
}

// anyHost takes every layer of psb for granted and gives the program the id it will have under the other tool: none of them maps ids.
func (j *job) anyHost(to export.Target) {
	h := &j.facts.host
	h.UserNS, h.Seccomp, h.Notify, h.Limits = true, true, true, nil
	h.Landlock = landlock.Support{ABI: landlock.NewestABI}
	if h.Root {
		h.Identity.UID, h.Identity.GID = export.RootBecomes(to)
	}
	h.Root, h.PlainNS = false, false
}

// standsForExport refuses to write down rights that nobody accepted; nothing is approved by it.
func (j *job) standsForExport(must bool) error {
	if j.where.named && j.where.exists {
		return nil
	}
	var sources []policy.Source
	if j.where.exists {
		sources = j.written.Sources
	}
	state, _, err := approval.At(j.macros.Config).Check(j.where.policy, sources)
	switch {
	case err != nil:
		return refuse("", "approvals: %s", err)
	case state == approval.Gone:
		return refuse("bring it back, or psb policy approve --forget", "%s is gone, and this project once had one", j.shownPolicy())
	case !j.where.exists && must:
		return refuse("psb --learn …", "there is no policy to export")
	case j.where.exists && state != approval.Approved:
		return refuse("read it, then psb policy approve"+j.policyWords(), "%s is not approved: %s", j.shownPolicy(), stateWords(state))
	}
	return nil
}

// export makes the files.
func (j *job) export(x *exportWords) (export.Export, error) {
	arch, err := seccomp.Native()
	if err != nil {
		return export.Export{}, err
	}
	filter := seccomp.Enforce(export.Options(arch, j.plan))
	program, err := filter.Build()
	if err != nil {
		return export.Export{}, err
	}
	made, err := export.Make(x.to, export.Request{Plan: j.plan, Written: j.written, Macros: j.macros, Root: j.w.root, Filter: filter, Program: program,
		Name: filepath.Base(j.where.project)})
	if err != nil {
		return made, refuse("", "%s", err)
	}
	return made, nil
}

// putExport writes one file to standard output, or all of them to a new folder.
func (j *job) putExport(x *exportWords, files []export.File) error {
	if x.out == "" {
		if len(files) > 1 {
			return refuse("psb policy export --to "+string(x.to)+" -o box …", "an export to %s is several files: name a folder for them", x.to)
		}
		_, err := j.w.stdio[1].Write(files[0].Data)
		return err
	}
	dir := absolute(j.w.cwd, x.out)
	real := filepath.Join(j.look.Resolve(filepath.Dir(dir)).Path, filepath.Base(dir))
	for _, top := range export.Writable(j.plan) {
		if real == top || below(real, top) {
			return refuse("name a folder outside of it", "%s: the policy lets the program write there (%s), and it would change its own box", plainText(x.out), plainText(top))
		}
	}
	if list, err := os.ReadDir(dir); err == nil && len(list) > 0 {
		return refuse("remove it, or name another", "%s: not empty", plainText(x.out))
	}
	if err := writeFolder(dir, files); err != nil {
		return refuse("", "%s", err)
	}
	return nil
}

// writeFolder makes a folder whole or not at all: beside its place first, then renamed.
func writeFolder(dir string, files []export.File) (err error) {
	temp, err := os.MkdirTemp(filepath.Dir(dir), "."+filepath.Base(dir)+".psb-new-")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(temp)
		}
	}()
	for _, f := range files {
		if err := writeExported(filepath.Join(temp, filepath.FromSlash(f.Name)), f); err != nil {
			return err
		}
	}
	if err := os.Chmod(temp, 0o755); err != nil {
		return err
	}
	_ = os.Remove(dir) // an empty one; any other stays, and the rename fails
	return os.Rename(temp, dir)
}

func writeExported(name string, f export.File) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	switch {
	case f.Link != "":
		return os.Symlink(f.Link, name)
	case f.Dir:
		if err := os.MkdirAll(name, 0o755); err != nil {
			return err
		}
	default:
		if err := os.WriteFile(name, f.Data, 0o600); err != nil {
			return err
		}
	}
	return os.Chmod(name, os.FileMode(f.Mode))
}

// completeExport offers what could stand behind `psb policy export` and before last.
func completeExport(before []string, last string) (offered []string, files bool) {
	if n := len(before); n > 0 && before[n-1] == "--to" {
		for _, t := range export.Targets() {
			offered = append(offered, string(t))
		}
		return offered, false
	}
	if n := len(before); n > 0 && before[n-1] == "-o" {
		return nil, true
	}
	var run []string // without export's own
	for i := 0; i < len(before); i++ {
		if before[i] == "--to" || before[i] == "-o" {
			i++
			continue
		}
		run = append(run, before[i])
	}
	offered, files, _ = completeRun(append(append([]string{"explain"}, run...), last))
	offered = slices.DeleteFunc(offered, func(o string) bool {
		return strings.HasPrefix(o, "--json") || strings.HasPrefix(o, "--timing") || strings.HasPrefix(o, "--learn")
	})
	if strings.HasPrefix(last, "-") && len(offered) > 0 || last == "-" || strings.HasPrefix("--to", last) && last != "" {
		for _, o := range []string{"--to\twrite for this tool", "-o\tthe new folder for several files"} {
			if strings.HasPrefix(o, last) {
				offered = append(offered, o)
			}
		}
	}
	return offered, files
}
