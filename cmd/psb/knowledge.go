package main

import (
	"path/filepath"
	"slices"
	"strings"

	"psb/learn"
	"psb/policy/plan"
	"psb/seccomp"
)

// knowledge is what generalising must know of this machine and box.
func (j *job) knowledge() learn.Knowledge {
	h := j.facts.host
	k := learn.Knowledge{Macros: j.macros, Folder: filepath.Dir(j.where.policy), Program: j.where.reads, Private: learn.FixedPrivate(), Shown: j.plan.Command.Given,
		Tables: map[string]bool{"env": true, "files": true, "syscalls": true, "net": j.plan.Brokered,
			"python": j.plan.Shim && j.plan.Mode.Learning()}}
	k.Homes = plan.Homes(j.macros)
	k.Private = append(k.Private, "/sys/devices/system/cpu/", "/run/")
	always := slices.Concat(h.Always, []string{"/etc/passwd", "/etc/group", "/etc/hosts", "/etc/resolv.conf", "/etc/nsswitch.conf", "/etc/host.conf", "/etc/hostname"})
	if py := j.layout; py != nil {
		k.Python = py.Version
		always = slices.Concat(always, py.Reads, py.SystemLibs)
		k.Runs = append(k.Runs, py.Executable, py.Launch, py.Loader)
		for _, l := range py.Links {
			k.Runs = append(k.Runs, l.Path)
		}
		if o := j.look.Resolve(py.Loader); py.Loader != "" {
			k.Runs = append(k.Runs, o.Path)
		}
	}
	if cmd := j.plan.Command; !cmd.Python { // as under psb exec, the command itself needs no rule
		k.Runs = append(k.Runs, cmd.Exec, j.look.Resolve(cmd.Exec).Path)
	}
	if j.opts.caller != "" { // the package's own files, wherever they are installed
		always = append(always, j.where.reads[len(j.where.reads)-1])
	}
	for _, p := range always {
		o := j.look.Resolve(p)
		for _, q := range []string{p, o.Path} {
			if o.Kind == plan.Dir {
				q += "/"
			}
			k.Always = append(k.Always, q)
		}
	}
	for _, home := range plan.Homes(j.macros) {
		for _, f := range plan.Floor(home) {
			k.Floor = append(k.Floor, f, f+"/")
		}
		k.Guarded = append(k.Guarded, plan.Guarded(home)...)
	}
	k.Guarded = append(k.Guarded, j.policyFiles()...)
	k.Guarded = append(k.Guarded, stateDir(j.w.id, j.w.lookup)) // what is kept there starts later runs
	k.Guarded = append(k.Guarded, j.plan.Protected...)
	k.Guarded = append(k.Guarded, j.plan.Watched...) // not there, such as the folder git's settings name for hooks
	for _, p := range j.plan.Places {
		if p.Guarded {
			k.Guarded = append(k.Guarded, p.Source.Path)
		}
	}
	if h.Venv != "" {
		k.Guarded = append(k.Guarded, h.Venv+"/")
	}
	k.Bytecode = false // plan sets PYTHONDONTWRITEBYTECODE
	k.Syscall = func(name string) bool { class, _ := seccomp.ClassOf(name); return class == seccomp.Base }
	k.SetEnv = func(name string) bool {
		_, set := j.w.lookup(name)
		return set && !plan.AlwaysEnv(name) && name != "PYTHONDONTWRITEBYTECODE"
	}
	k.Entries = func(dir string) []string {
		list, err := j.look.Entries(dir)
		if err != nil {
			return nil
		}
		out := make([]string, 0, len(list))
		for _, e := range list {
			if e.Kind == plan.Dir {
				out = append(out, e.Name+"/")
			} else {
				out = append(out, e.Name)
			}
		}
		return out
	}
	k.Exists = func(object string) bool { return j.look.Resolve(strings.TrimSuffix(object, "/")).Kind != plan.Absent }
	return k
}
