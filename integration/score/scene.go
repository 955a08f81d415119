package main

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// person is who runs a program.
type person struct {
	name string
	id   int
}

// The ordinary users have no line in passwd, so that their home is what HOME says.
var (
	learner  = person{"user", 54321}
	stranger = person{"other user", 54322}
	root     = person{"root", 0}
)

// self is the only one this process can be when it is not root.
func self() person { return person{"user", os.Getuid()} }

// workshop is the folder of one run of this command. It is not below /tmp, which every box has its own of.
type workshop struct {
	dir, psb string
	keep     bool
}

func openWorkshop(psb string, keep bool) (*workshop, error) {
	b, err := os.ReadFile(psb)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("/var/tmp", "psb-score-")
	if err != nil {
		return nil, err
	}
	w := &workshop{dir, filepath.Join(dir, "bin", "psb"), keep}
	if err := os.Chmod(dir, 0o755); err != nil {
		return nil, err
	}
	if err := os.Mkdir(filepath.Dir(w.psb), 0o755); err != nil {
		return nil, err
	}
	return w, os.WriteFile(w.psb, b, 0o755) // a copy: the original may lie where an ordinary user cannot look
}

func (w *workshop) close() {
	if w.keep {
		fmt.Fprintln(os.Stderr, "kept:", w.dir)
		return
	}
	os.RemoveAll(w.dir)
}

// scene is one person's small world: a home, a project in it, and a sibling folder the project never uses.
type scene struct {
	shop                         *workshop
	who                          person
	home, project, sibling, kept string
	token                        string // in every decoy, and nowhere else
}

// decoys lie in every project and belong to nobody's rules.
var decoys = []string{".env", "notes/private.txt", "other.py"}

// newScene makes a world for one person with the project in the named folder below the home.
func (w *workshop) newScene(who person, project string) (scene, error) {
	dir, err := os.MkdirTemp(w.dir, "scene-")
	if err != nil {
		return scene{}, err
	}
	home := filepath.Join(dir, "home")
	s := scene{shop: w, who: who, home: home, project: filepath.Join(home, project), sibling: filepath.Join(home, filepath.Dir(project), "sibling"),
		kept: filepath.Join(dir, "pristine"), token: random()}
	if err := os.Chmod(dir, 0o755); err != nil {
		return s, err
	}
	for _, d := range []string{s.project, s.sibling} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return s, err
		}
	}
	if err := os.WriteFile(filepath.Join(s.sibling, s.token+".txt"), []byte(s.bait()), 0o644); err != nil {
		return s, err
	}
	return s, s.decoy()
}

func (s scene) bait() string { return "# " + s.token + "\n" }

// decoy puts the decoys into the project.
func (s scene) decoy() error {
	for _, name := range decoys {
		path := filepath.Join(s.project, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		_ = os.Remove(path) // a probe may have put something else there
		if err := os.WriteFile(path, []byte(s.bait()), 0o644); err != nil {
			return err
		}
	}
	return s.give()
}

// give makes the person own everything in the home.
func (s scene) give() error {
	if os.Getuid() != 0 {
		return nil
	}
	return filepath.WalkDir(s.home, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, s.who.id, s.who.id)
	})
}

// drop ends the scene.
func (s scene) drop() {
	if !s.shop.keep {
		os.RemoveAll(filepath.Dir(s.home))
	}
}

// reset puts the project back as it was before any run, with the policy when there is one. cold takes away caches and what else programs left in the home, too.
func (s scene) reset(policy string, cold bool) error {
	if err := os.RemoveAll(s.project); err != nil {
		return err
	}
	if cold {
		if err := s.cool(); err != nil {
			return err
		}
	}
	if err := copyTree(s.kept, s.project); err != nil {
		return err
	}
	if policy != "" {
		if err := os.WriteFile(s.policyFile(), []byte(policy), 0o644); err != nil {
			return err
		}
	}
	return s.give()
}

// cool takes away what programs left in the home; psb's own state, approvals among it, stays.
func (s scene) cool() error {
	list, err := os.ReadDir(s.home)
	if err != nil {
		return err
	}
	top, _, _ := strings.Cut(strings.TrimPrefix(s.project, s.home+"/"), "/")
	for _, e := range list {
		if e.Name() == top || e.Name() == ".config" || e.Name() == ".local" {
			continue
		}
		if err := os.RemoveAll(filepath.Join(s.home, e.Name())); err != nil {
			return err
		}
	}
	return os.RemoveAll(filepath.Join(s.home, ".local", "share"))
}

func (s scene) policyFile() string { return filepath.Join(s.project, policyName) }

const policyName = ".py-sandboxes"

// policy is the text of the project's policy, "" for none.
func (s scene) policy() string {
	b, err := os.ReadFile(s.policyFile())
	if err != nil {
		return ""
	}
	return string(b)
}

func (s scene) env() []string {
	return []string{"PATH=" + filepath.Dir(s.shop.psb) + ":/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME=" + s.home, "USER=" + strings.ReplaceAll(s.who.name, " ", "-"),
		"LANG=C.UTF-8", "TZ=UTC", "XDG_CONFIG_HOME=" + s.home + "/.config", "XDG_CACHE_HOME=" + s.home + "/.cache", "XDG_STATE_HOME=" + s.home + "/.local/state"}
}

func random() string {
	var b [8]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// copyTree copies files, folders and links with their permission bits and times.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		info, err := d.Info()
		if err != nil {
			return err
		}
		switch {
		case d.IsDir():
			if err := os.MkdirAll(target, 0o755); err != nil {
				return err
			}
			return os.Chmod(target, info.Mode().Perm())
		case info.Mode()&fs.ModeSymlink != 0:
			link, err := os.Readlink(path)
			if err != nil {
				return err
			}
			return os.Symlink(link, target)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := os.WriteFile(target, b, info.Mode().Perm()); err != nil {
			return err
		}
		return os.Chtimes(target, info.ModTime(), info.ModTime())
	})
}
