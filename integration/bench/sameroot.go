package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"psb/policy/plan"
	"psb/pythonshim"
	"psb/seccomp"
)

// sameRoot is bubblewrap with the root and the filter of psb's own plan: what is left of the difference is Landlock, the shim, id-mapped
// mounts, the groups and who builds the box.
//
// Not the same: files that psb makes (/etc/passwd) are the host's, what psb covers below /proc is open, a folder of which psb shows only the
// names is empty, and the shim is not laid over the interpreter's encodings. The filter is the one psb installs where no supervisor listens: calls
// that psb would hear of (connect among them) fail with their errno at once. No row makes such a call.
func (p place) sameRoot() peer {
	x := peer{name: "bubblewrap"}
	bwrap, err := exec.LookPath("bwrap")
	if err != nil {
		x.absent = "apt-get install bubblewrap"
		return x
	}
	filter := filepath.Join(p.aside, "filter-psb.bpf")
	var (
		mu    sync.Mutex
		known = map[string][]string{} // a plan is asked for once a row
	)
	x.command = func(r row) (*exec.Cmd, error) {
		mu.Lock()
		defer mu.Unlock()
		argv, there := known[r.name]
		if !there {
			shown, err := p.explain(r)
			if err != nil {
				return nil, err
			}
			if err := writeFilter(filter, shown); err != nil {
				return nil, err
			}
			argv = append(p.bubblewrap(bwrap), "--uid", fmt.Sprint(shown.UID), "--gid", fmt.Sprint(shown.GID))
			argv = append(append(argv, binds(shown.Files)...), "--chdir", p.dir, "--seccomp", "3", p.python)
			known[r.name] = argv
		}
		return p.withFilter(filter, append(argv[:len(argv):len(argv)], r.args...))
	}
	return x
}

// explain is psb's own plan of a row.
func (p place) explain(r row) (plan.Shown, error) {
	argv := slices.Concat([]string{p.psb, "explain", "--json"}, p.boxed(r)[1:])
	var shown plan.Shown
	out, err := p.start(argv...).Output()
	if err != nil {
		return shown, fmt.Errorf("%s: %w", strings.Join(argv, " "), err)
	}
	if err := json.Unmarshal(out, &shown); err != nil {
		return shown, fmt.Errorf("%s: %w", strings.Join(argv, " "), err)
	}
	return shown, nil
}

// writeFilter writes psb's filter as bubblewrap takes it: an array of struct sock_filter.
func writeFilter(file string, shown plan.Shown) error {
	arch, err := seccomp.Native()
	if err != nil {
		return err
	}
	f := seccomp.Enforce(seccomp.Options{Arch: arch, NoteFD: pythonshim.NoteFD, LandlockABI: shown.Landlock, Extra: shown.Syscalls, IDs: &seccomp.IDs{UID: shown.UID, GID: shown.GID}})
	program, err := f.Build()
	if err != nil {
		return err
	}
	return os.WriteFile(file, program.Bytes, 0o644)
}

// binds turns the places of a plan, parents first, into bubblewrap's words. What bubblewrap has of its own (/dev, /proc, /tmp) stays its own.
func binds(places []plan.ShownPlace) []string {
	var words, shown, writable []string
	covered := func(at string, list []string) bool {
		return slices.ContainsFunc(list, func(top string) bool { return strings.HasPrefix(at, top+"/") })
	}
	for _, x := range places {
		own := slices.ContainsFunc([]string{"/dev", "/proc", "/tmp", plan.OwnDir}, func(top string) bool { return x.Path == top || strings.HasPrefix(x.Path, top+"/") })
		rights := strings.Fields(x.Rights)
		write := slices.Contains(rights, "write") && !x.Guarded
		info, err := os.Lstat(x.Path)
		switch {
		case own, x.Hidden, x.Path == "/", x.Link == "" && err != nil:
		case x.Link != "":
			if !covered(x.Path, shown) {
				words = append(words, "--symlink", x.Link, x.Path)
			}
		case write:
			if !covered(x.Path, writable) {
				words, writable, shown = append(words, "--bind", x.Path, x.Path), append(writable, x.Path), append(shown, x.Path)
			}
		case slices.Contains(rights, "read"):
			if !covered(x.Path, shown) {
				words, shown = append(words, "--ro-bind", path.Clean(x.Path), x.Path), append(shown, x.Path)
			}
		case info.IsDir() && !covered(x.Path, shown):
			words = append(words, "--dir", x.Path)
		}
	}
	return words
}
