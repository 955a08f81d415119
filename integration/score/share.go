package main

import (
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// share is how many objects a policy grants and how many of them the program used. Granted is 0 where it has no such rule.
type share struct {
	Granted int `json:"granted"`
	Used    int `json:"used"`
}

// ratio is granted ÷ used; ok is false where the policy has no such rule. Granted and never used, at all, is as bad as it gets.
func (s share) ratio() (r float64, ok bool) {
	if s.Granted == 0 {
		return 0, false
	}
	return float64(s.Granted) / float64(max(s.Used, 1)), true
}

// granted is what a policy grants, expanded over the disk as a run without psb left it.
type granted struct {
	files   map[string]bool // readable, by the rules
	listed  map[string]bool // folders whose names may be read
	written map[string]bool // files and folders that may be written
	creates map[string]bool // folders in which names may come
	ran     map[string]bool
	reached map[string]bool
	served  map[string]bool
}

// share counts what the policy grants beside what the run used. Only what stands in the policy counts: what every box has, it needs no
// rule for, and is on neither side.
func (x *exam) share() error {
	if err := x.home.reset(x.Policy, true); err != nil {
		return err
	}
	u, err := x.observe()
	if err != nil {
		return err
	}
	g, err := x.home.expand(x.Policy)
	if err != nil {
		return err
	}
	written := slices.Collect(maps.Keys(u.written))
	x.Reads = counted(g.files, u.read, u.written)
	lists := counted(g.listed, u.listed, u.changed)
	x.Reads.Granted, x.Reads.Used = x.Reads.Granted+lists.Granted, x.Reads.Used+lists.Used
	x.Writes = counted(g.written, u.written, u.changed)
	for dir := range g.creates {
		x.Writes.Granted++
		if u.changed[dir] || slices.ContainsFunc(written, func(p string) bool { return filepath.Dir(p) == dir }) {
			x.Writes.Used++
		}
	}
	x.Programs = counted(g.ran, u.ran)
	x.Hosts = counted(g.reached, u.reached)
	listens := counted(g.served, u.served)
	x.Hosts.Granted, x.Hosts.Used = x.Hosts.Granted+listens.Granted, x.Hosts.Used+listens.Used
	return nil
}

// counted gives how many there are, and how many of them are in one of the others.
func counted(all map[string]bool, used ...map[string]bool) (s share) {
	for name := range all {
		s.Granted++
		if slices.ContainsFunc(used, func(u map[string]bool) bool { return u[name] }) {
			s.Used++
		}
	}
	return s
}

// expand reads the rules of a learned policy and puts for each the objects on the disk that it means.
func (s scene) expand(policy string) (granted, error) {
	var text struct {
		Files map[string]any
		Net   map[string]any
	}
	g := granted{map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}}
	if _, err := toml.Decode(policy, &text); err != nil {
		return g, err
	}
	for key, value := range text.Files {
		path, err := s.place(key)
		if err != nil {
			return g, err
		}
		for _, right := range rights(value) {
			g.file(right, path, strings.HasSuffix(key, "/"))
		}
	}
	for key, value := range text.Net {
		for _, right := range rights(value) {
			switch right {
			case "connect":
				g.reached[key] = true
			case "listen":
				g.served[key] = true
			}
		}
	}
	return g, nil
}

func rights(value any) (out []string) {
	list, ok := value.([]any)
	if !ok {
		list = []any{value}
	}
	for _, v := range list {
		out = append(out, fmt.Sprint(v))
	}
	return out
}

// place gives the path a key means in this scene.
func (s scene) place(key string) (string, error) {
	for word, folder := range map[string]string{"~": s.home, "${cache}": s.home + "/.cache", "${config}": s.home + "/.config", "${data}": s.home + "/.local/share",
		"${tmp}": "/tmp", "${project}": s.project} {
		if rest, ok := strings.CutPrefix(key, word+"/"); ok {
			return filepath.Join(folder, rest), nil
		}
	}
	switch {
	case strings.HasPrefix(key, "$"):
		return "", fmt.Errorf("%q: the score does not know this word", key)
	case filepath.IsAbs(key):
		return filepath.Clean(key), nil
	}
	return filepath.Join(s.project, key), nil
}

func (g granted) file(right, path string, tree bool) {
	switch right {
	case "exec":
		g.ran[real(path)] = true
	case "list":
		g.listed[real(path)] = true
	case "create":
		g.creates[real(path)] = true
	case "read":
		each(path, tree, func(p string, dir bool) {
			if !dir {
				g.files[p] = true
			}
		})
	case "write":
		each(path, tree, func(p string, _ bool) { g.written[p] = true })
	}
}

// each walks what is below a tree, or gives the one file.
func each(path string, tree bool, do func(p string, dir bool)) {
	path = real(path)
	if !tree {
		do(path, false)
		return
	}
	_ = filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // not there, or closed to everybody: nothing is granted by it
		}
		if d.Type()&fs.ModeSymlink == 0 {
			do(p, d.IsDir())
		}
		return nil
	})
}
