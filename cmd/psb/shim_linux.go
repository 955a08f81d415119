// Does to the process: starts a box that grants nothing, once for each interpreter, to compile the shim; keeps the result in a folder of psb's own.
// Undone: the box is gone when it returns; the file stays.
// Preconditions: the policy is expanded and the interpreter found.
// Called by: prepare.go.
// Proved by: TestShimCompiledOnce.

package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"psb/policy/plan"
	"psb/pythonshim"
	"psb/pythonshim/call"
)

// shim prepares the overlay of the interpreter's encodings.
func (j *job) shim(mode plan.Mode) error {
	if !j.policy.Shim || j.layout == nil || !j.layout.ShimFits() {
		return nil
	}
	j.w.seen.contentBehind(j.layout.Encodings)
	original, err := os.ReadFile(j.layout.Encodings)
	if err != nil {
		return refuse("", "python: %s", err)
	}
	m := pythonshim.Enforce
	if mode.Learning() {
		m = pythonshim.Learn
	}
	rules := pythonRules(j.policy, j.installedScript())
	rules.Inspect = j.opts.inspect
	provider := j.request.Provider
	if provider == "" {
		provider = j.policy.Sandbox.Provider
	}
	if provider == "landlock" || provider != "namespaces" && !j.facts.host.UserNS && !j.facts.host.PlainNS {
		j.request.ShimPath, err = shimFolder(j, m, rules)
		if err != nil {
			return refuse("", "shim: %s", err)
		}
		return nil
	}
	overlay := pythonshim.Overlay(original, m)
	j.request.Shim = map[string]string{pythonshim.RulesName: string(rules.Marshal())}
	if code, there := j.shimShown(overlay); there {
		j.request.Overlay = map[string]string{j.layout.Encodings: pythonshim.PackageDir + "/" + shownOverlay}
		if code {
			j.request.Overlay[j.layout.Pyc] = pythonshim.PackageDir + "/" + shownCode
		}
		return nil
	}
	j.request.Overlay = map[string]string{j.layout.Encodings: shownOverlay}
	j.request.Shim[shownOverlay] = string(overlay)
	j.packageInside()
	return nil
}

// The overlay of encodings and its byte code, beside the package psb.
const shownOverlay, shownCode = "encodings.py", "encodings.pyc"

// callCodeName is the byte code of psb mcp's program, compiled with them; it is put into the boxes that need it.
const callCodeName = "call.pyc"

// shimShown has a folder of psb's own shown in the box as [pythonshim.PackageDir]: the package, the overlay, and the byte code of both, compiled once by
// the interpreter itself in a box that grants nothing. Without the code, false, each start compiles the overlay anew: slower, and not otherwise.
func (j *job) shimShown(overlay []byte) (code, there bool) {
	var own []byte // the interpreter's own byte code of encodings
	if j.layout.Pyc != "" && !j.bare {
		j.w.seen.contentBehind(j.layout.Pyc)
		own, _ = os.ReadFile(j.layout.Pyc)
	}
	dir, err := j.pythonFolder(shimKey(j.layout.Encodings, overlay, own), func(string) map[string][]byte {
		files := pythonshim.Package()
		files[shownOverlay] = overlay
		maps.Copy(files, j.shimCode(files, own))
		return files
	})
	if err != nil || dir == "" {
		return false, false
	}
	for _, name := range []string{shownOverlay, shownCode} {
		j.w.seen.content(filepath.Join(dir, name)) // damaged, it is as good as none
	}
	if text, err := readOwn(filepath.Join(dir, shownOverlay)); err != nil || !bytes.Equal(text, overlay) {
		return false, false
	}
	j.request.Package = dir
	text, err := readOwn(filepath.Join(dir, shownCode))
	return err == nil && pythonshim.VerifyPyc(text, own) == nil, true
}

// shimCode gives the files of byte code, none where they cannot be made; what failed once is not tried at every start.
func (j *job) shimCode(files map[string][]byte, own []byte) map[string][]byte {
	if own == nil {
		return nil
	}
	var list []pythonshim.Source
	var names []string
	for _, name := range slices.Sorted(maps.Keys(files)) {
		switch {
		case name == shownOverlay:
			list, names = append(list, pythonshim.Source{Path: j.layout.Encodings, Text: files[name]}), append(names, shownCode)
		case strings.HasSuffix(name, ".py"):
			shown := pythonshim.ShimDir + "/" + pythonshim.PackageDir + "/" + name
			list, names = append(list, pythonshim.Source{Path: shown, Text: files[name]}), append(names, pythonshim.PycName(*j.layout, name))
		}
	}
	list, names = append(list, pythonshim.Source{Path: call.Dir + "/" + call.ProgramName, Text: []byte(call.Program)}), append(names, callCodeName)
	out, err := j.compileShim(list)
	if err != nil {
		return nil
	}
	code, err := pythonshim.PycOutput(out, len(list), own)
	if err != nil {
		return nil
	}
	made := map[string][]byte{}
	for i, name := range names {
		made[name] = code[i]
	}
	return made
}

// callCode is the byte code of psb mcp's program; nil where there is none.
func (j *job) callCode() []byte {
	if j.request.Package == "" || j.layout == nil || j.layout.Pyc == "" {
		return nil
	}
	name := filepath.Join(j.request.Package, callCodeName)
	j.w.seen.content(name)
	text, err := readOwn(name)
	own, wrong := os.ReadFile(j.layout.Pyc)
	if err != nil || wrong != nil || pythonshim.VerifyPyc(text, own) != nil {
		return nil
	}
	return text
}

// shimKey tells one interpreter's folder from another's, and from what another psb made.
func shimKey(encodings string, overlay, own []byte) string {
	h := sha256.New()
	for _, part := range [][]byte{[]byte(encodings), overlay, own, []byte(pythonshim.PackageKey()), []byte(call.Program)} {
		fmt.Fprintf(h, "%d ", len(part))
		h.Write(part)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// readOwn reads a file of psb's own folder; what somebody else could have written is not there.
func readOwn(name string) ([]byte, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return nil, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG || int(st.Uid) != os.Geteuid() || st.Mode&0o022 != 0 {
		return nil, fmt.Errorf("%s: others could have written it", name)
	}
	text := make([]byte, min(st.Size, 2<<20)) // written whole and never again
	if _, err := io.ReadFull(f, text); err != nil {
		return nil, err
	}
	return text, nil
}

// compileShim runs the interpreter in a box of its own, under the empty policy and without the shim.
func (j *job) compileShim(list []pythonshim.Source) ([]byte, error) {
	in, err := memoryFile(pythonshim.PycInput(list))
	if err != nil {
		return nil, err
	}
	defer in.Close()
	out, err := memoryFile(nil)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	quiet, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer quiet.Close()
	w := *j.w
	w.stdio, w.ui, w.cwd, w.seen = [3]*os.File{in, out, quiet}, voice{quiet}, "/", newSightings()
	args := pythonshim.PycCommand()
	line := &runLine{form: formCode, pyOpts: args[:len(args)-2], target: args[len(args)-1], options: options{python: j.layout.Launch, provider: j.opts.provider}}
	k := &job{w: &w, opts: line.options, where: whereabouts{project: "/"}, look: newLook(w.seen), facts: j.facts, bare: true}
	if err := k.loadPolicy(); err != nil {
		return nil, err
	}
	k.written.Shim = false
	if err := k.findPython(); err != nil {
		return nil, err
	}
	k.setMacros()
	if err := k.expand(); err != nil {
		return nil, err
	}
	if err := k.planFor(plan.Enforce, k.pythonCommand(line)); err != nil {
		return nil, err
	}
	o, err := launch(k, newSupervisor(k))
	if err != nil || o.status != 0 {
		return nil, fmt.Errorf("compile the shim: status %d: %w", o.status, err)
	}
	return os.ReadFile(fmt.Sprintf("/proc/self/fd/%d", out.Fd()))
}

func memoryFile(text []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate("psb-shim", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "psb-shim")
	if _, err := f.Write(text); err != nil {
		f.Close()
		return nil, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// shimFolder keeps the form of the shim that PYTHONPATH finds, where no mount namespace lets psb lay it over a file: a folder for each text of
// the rules. No box can write it.
func shimFolder(j *job, m pythonshim.Mode, rules pythonshim.Rules) (string, error) {
	h := sha256.New()
	h.Write(rules.Marshal())
	h.Write(pythonshim.Overlay(nil, m))
	name := shimFolderPrefix + version + "-" + m.String() + "-" + pythonshim.PackageKey() + "-" + hex.EncodeToString(h.Sum(nil)[:8])
	state := stateDir(j.w.id, j.w.lookup)
	if dir := filepath.Join(state, name); j.w.traceless && !present(dir) {
		return dir, nil // a plan that is only shown
	}
	defer sweepShimFolders(state)
	for {
		dir, err := j.ownFolder(name, func(dir string) map[string][]byte {
			files := pythonshim.Files(m, rules, dir)
			for name, text := range pythonshim.Package() {
				files[pythonshim.PackageDir+"/"+name] = text
			}
			return files
		})
		if err == nil && dir != "" {
			err = holdShimFolder(dir)
		}
		if !errors.Is(err, os.ErrNotExist) { // else another start swept it between the two
			return dir, err
		}
	}
}
