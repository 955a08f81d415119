package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"unicode/utf8"

	"psb/namespaces"
	"psb/pythonshim"
)

// keptLayout is an interpreter as an earlier start found it, with all that finding it looked at. While that looks the same, so does the
// interpreter: its libraries need not be read again.
type keptLayout struct {
	Layout pythonshim.Layout
	Asked  map[string]string // variables of the environment that were looked up, each with the digest of its value
	Checks []namespaces.Check
}

// mostLayouts is how many are kept; the oldest go first.
const mostLayouts = 50

// findInterpreter is pythonshim.Find, noted, with what it found kept in psb's own folder.
func findInterpreter(w *world, name string) (pythonshim.Layout, error) {
	host := pythonshim.Host{Env: w.env, Cwd: w.cwd}
	file := layoutFile(w, name)
	if k, ok := readLayout(file); ok && k.holds(host) {
		for asked := range k.Asked {
			w.asked[asked] = true
		}
		w.seen.join(k.Checks)
		return k.Layout, nil
	}
	seen, asked := newSightings(), map[string]bool{}
	layout, err := pythonshim.Find(name, notedHost{host, seen, asked})
	maps.Copy(w.asked, asked)
	w.seen.take(seen)
	if err != nil || seen.doubt != "" || w.traceless {
		return layout, err
	}
	k := keptLayout{Layout: layout, Asked: map[string]string{}, Checks: seen.checks()}
	for name := range asked {
		k.Asked[name] = valueDigest(host, name)
	}
	k.keep(file)
	return layout, nil
}

// layoutFile is named by all that Find is given; another psb looks anew.
func layoutFile(w *world, name string) string {
	own := ""
	if fi, err := os.Stat("/proc/self/exe"); err == nil {
		own = fmt.Sprint(fi.Size(), fi.ModTime().UnixNano())
	}
	from := w.cwd
	if filepath.IsAbs(name) {
		from = ""
	}
	key := sha256.Sum256([]byte(fmt.Sprintf("%s %s %q %q", version, own, name, from)))
	return filepath.Join(stateDir(w.id, w.lookup), "layouts", hex.EncodeToString(key[:])+".json")
}

func readLayout(file string) (k keptLayout, ok bool) {
	b, err := readOwn(file)
	return k, err == nil && json.Unmarshal(b, &k) == nil && k.Layout.Launch != ""
}

func valueDigest(host pythonshim.Host, name string) string {
	sum := sha256.Sum256([]byte(host.Getenv(name)))
	return hex.EncodeToString(sum[:])
}

func (k keptLayout) holds(host pythonshim.Host) bool {
	for name, value := range k.Asked {
		if valueDigest(host, name) != value {
			return false
		}
	}
	now := newSightings()
	for _, c := range k.Checks {
		if !now.still(c) {
			return false
		}
	}
	return now.doubt == ""
}

// keep writes it down. JSON cannot hold every name; what it would change is not kept.
func (k keptLayout) keep(file string) {
	for _, c := range k.Checks {
		if !utf8.ValidString(c.Path) {
			return
		}
	}
	b, err := json.Marshal(k)
	if dir := filepath.Dir(file); err == nil && mayWrite(len(b)) && os.MkdirAll(dir, 0o700) == nil && replaceFile(file, b, 0o600) == nil {
		dropOldest(dir, mostLayouts)
	}
}
