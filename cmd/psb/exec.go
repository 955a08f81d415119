package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"psb/policy"
	"psb/policy/plan"
)

// execRun is `psb exec [psb options] -- CMD ARGS`: any command under ./.py-sandboxes, or the empty policy.
func execRun(w *world, args []string) (int, error) {
	if isHelp(args) {
		_, err := w.stdio[1].WriteString("psb exec [psb options] -- CMD ARGS\n\nRun any command under the policy. The command itself needs no exec rule; what it starts does.\nWith --audit, run it where no change is kept, and tell what it would have done.\n")
		return 0, err
	}
	if at := slices.Index(args, "--"); at >= 0 && at+1 < len(args) {
		if line, err := parseRun(args[:at]); err == nil && line.audit && execOptions(line) {
			return auditExec(w, line, args[at+1:])
		}
	}
	return againWhereChanged(w, func() (int, error) {
		j, err := execJob(w, args)
		if err != nil {
			return refusedStatus(err), j.refused(err)
		}
		if j.plan.Provider == plan.None {
			return exitRefused, execBare(j)
		}
		return j.launchEnforced()
	})
}

func execJob(w *world, args []string) (*job, error) {
	at := slices.Index(args, "--")
	if at < 0 || at+1 == len(args) {
		return nil, &usageError{"exec: no command after --", "psb exec -- COMMAND ARGS"}
	}
	line, err := parseRun(args[:at])
	if err != nil {
		return nil, err
	}
	if !execOptions(line) || line.learn {
		return nil, &usageError{"exec: only psb's own options stand before --, and --learn is not one of them here", "psb exec --policy FILE -- COMMAND ARGS"}
	}
	if len(line.inspect) > 0 {
		return nil, &usageError{"exec: --inspect is of a program of Python", "psb --inspect NAME SCRIPT"}
	}
	j := &job{w: w, opts: line.options, where: locate(line, w), look: newLook(w.seen)}
	if err := j.readPolicy(false); err != nil {
		return j, err
	}
	if err := j.findPython(); err != nil { // a box for programs without Python is still a box
		var r *refusal
		if !errors.As(err, &r) || j.opts.python != "" {
			return j, err
		}
		always(w, &j.facts.host)
	}
	j.setMacros()
	if err := j.expand(); err != nil {
		return j, err
	}
	command, err := findCommand(w, args[at+1])
	if err != nil {
		return j, err
	}
	// The command named here is allowed to run: its file, its loader and libraries.
	j.policy.Rules = append(j.policy.Rules, policy.Rule{Op: policy.OpExec, Origin: policy.Origin{From: "command line"},
		Pattern: policy.Pattern{Text: command, Object: command}})
	return j, j.planFor(plan.Enforce, plan.Command{Exec: command, Argv: args[at+1:], Env: w.env, Dir: w.cwd})
}

// execOptions: only psb's own options were read.
func execOptions(line *runLine) bool { return line.form == formREPL && len(line.pyOpts) == 0 }

// findCommand looks a command up on PATH, as a shell does.
func findCommand(w *world, name string) (string, error) {
	if strings.ContainsRune(name, '/') {
		p := absolute(w.cwd, name)
		if fi, err := os.Stat(p); err != nil || fi.IsDir() {
			return "", &refusal{what: plainText(name) + ": no such command", status: exitNotFound}
		}
		return p, nil
	}
	path, _ := w.lookup("PATH")
	for _, dir := range filepath.SplitList(path) {
		p := filepath.Join(absolute(w.cwd, dir), name)
		if fi, err := os.Stat(p); err == nil && !fi.IsDir() && fi.Mode()&0o111 != 0 {
			return p, nil
		}
	}
	return "", &refusal{what: plainText(name) + ": " + exec.ErrNotFound.Error(), status: exitNotFound}
}

func isHelp(args []string) bool {
	return len(args) > 0 && (args[0] == "--help" || args[0] == "-h" || args[0] == "help")
}
