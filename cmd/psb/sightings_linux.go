// Does to the process: looks at host objects (stat(2), small files of /proc); keeps nothing open.
// Undone: nothing to undo.
// Preconditions: none.
// Called by: whatever looks at the host before a launch.
// Proved by: TestSightings, TestPreparedFollowsTheHost.

package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"psb/namespaces"
	"psb/pythonshim"
)

// sightings are the host objects that a launch was worked out from, each as it looked before it was used: a later start may do without
// working it out again while all of them still look so. A nil one notes nothing.
type sightings struct {
	at map[sight]*namespaces.Check
	// doubt says why no later start may rely on them: something changed while it was looked at, or so shortly before that its times could
	// not tell another change.
	doubt string
	// binary are files that were read for the libraries they name.
	binary map[string]bool
}

type sight struct {
	path   string
	follow bool
}

func newSightings() *sightings {
	return &sightings{at: map[sight]*namespaces.Check{}, binary: map[string]bool{}}
}

// settled is how old a change must be for its time to tell the next one: the coarsest clock of a file system (FAT: 2 s).
const settled = 2 * time.Second

// node notes that there is such an object, or none.
func (s *sightings) node(path string) { s.see(path, false, namespaces.CheckNode) }

// nodeBehind is node for what a link leads to.
func (s *sightings) nodeBehind(path string) { s.see(path, true, namespaces.CheckNode) }

// content notes an object that is about to be read: a folder's names, a link's text.
func (s *sightings) content(path string) { s.see(path, false, namespaces.CheckContent) }

// contentBehind is content for what a link leads to.
func (s *sightings) contentBehind(path string) { s.see(path, true, namespaces.CheckContent) }

// text notes a file of /proc with its text as it was read.
func (s *sightings) text(path string, text []byte) {
	s.at[sight{path, true}] = &namespaces.Check{Kind: namespaces.CheckText, Follow: true, Path: path, Text: text}
}

func (s *sightings) see(path string, follow bool, kind namespaces.CheckKind) {
	if s == nil {
		return
	}
	k := sight{path, follow}
	old := s.at[k]
	if old != nil && (old.Kind >= kind || old.Kind == namespaces.CheckAbsent) {
		return
	}
	c := &namespaces.Check{Follow: follow, Path: path}
	var st unix.Stat_t
	stat := unix.Lstat
	if follow {
		stat = unix.Stat
	}
	switch err := stat(path, &st); {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR):
	case err != nil:
		s.doubt = path + ": " + err.Error()
		return
	default:
		if st.Mode&unix.S_IFMT == unix.S_IFLNK {
			kind = namespaces.CheckContent // its text is all it is
		}
		c.Kind, c.Dev, c.Ino, c.Rdev, c.Mode, c.UID, c.GID = kind, st.Dev, st.Ino, st.Rdev, st.Mode, st.Uid, st.Gid
		c.Size, c.Modified, c.Changed = uint64(st.Size), nanoseconds(st.Mtim), nanoseconds(st.Ctim)
		if kind == namespaces.CheckContent && time.Since(time.Unix(st.Ctim.Unix())) < settled {
			s.doubt = path + " was changed just now"
		}
	}
	if old != nil && (c.Kind == namespaces.CheckAbsent || c.Dev != old.Dev || c.Ino != old.Ino) {
		s.doubt = path + " was changed meanwhile"
	}
	s.at[k] = c
}

// still looks again and says whether the object looks as it did.
func (s *sightings) still(c namespaces.Check) bool {
	s.see(c.Path, c.Follow, c.Kind)
	now := s.at[sight{c.Path, c.Follow}]
	if now == nil { // it cannot be looked at any more: a doubt, too
		return false
	}
	if c.Kind == namespaces.CheckNode {
		c.Size, c.Modified, c.Changed = now.Size, now.Modified, now.Changed
	}
	return now.Kind == c.Kind && now.Dev == c.Dev && now.Ino == c.Ino && now.Rdev == c.Rdev && now.Mode == c.Mode && now.UID == c.UID && now.GID == c.GID &&
		now.Size == c.Size && now.Modified == c.Modified && now.Changed == c.Changed
}

// unchanged looks again, as still does, and keeps nothing: quick, for somebody who waits.
func unchanged(c *namespaces.Check) bool {
	if c.Kind == namespaces.CheckText {
		text, err := os.ReadFile(c.Path)
		return err == nil && bytes.Equal(text, c.Text)
	}
	var st unix.Stat_t
	stat := unix.Lstat
	if c.Follow {
		stat = unix.Stat
	}
	if err := stat(c.Path, &st); err != nil {
		return c.Kind == namespaces.CheckAbsent && (errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR))
	}
	if c.Kind == namespaces.CheckAbsent || st.Dev != c.Dev || st.Ino != c.Ino || st.Rdev != c.Rdev || st.Mode != c.Mode || st.Uid != c.UID || st.Gid != c.GID {
		return false
	}
	return c.Kind == namespaces.CheckNode || uint64(st.Size) == c.Size && nanoseconds(st.Mtim) == c.Modified && nanoseconds(st.Ctim) == c.Changed
}

// join adds looks that were found to hold.
func (s *sightings) join(checks []namespaces.Check) {
	for i, c := range checks {
		k := sight{c.Path, c.Follow}
		if old := s.at[k]; old == nil || c.Kind > old.Kind && old.Kind != namespaces.CheckAbsent {
			s.at[k] = &checks[i]
		}
	}
}

// take adds what others saw.
func (s *sightings) take(o *sightings) {
	for k, c := range o.at {
		if old := s.at[k]; old == nil || c.Kind > old.Kind && old.Kind != namespaces.CheckAbsent {
			again := *c
			s.at[k] = &again
		}
	}
	for name := range o.binary {
		s.binary[name] = true
	}
	if s.doubt == "" {
		s.doubt = o.doubt
	}
}

func nanoseconds(t unix.Timespec) uint64 { return uint64(t.Sec)*1e9 + uint64(t.Nsec) }

// checks are as few looks as say the same, in the order of paths.
func (s *sightings) checks() []namespaces.Check {
	s.throughNoLink()
	s.wholeFolders()
	var keys []sight
	for k := range s.at {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b sight) int {
		if a.path == b.path && a.follow != b.follow {
			return map[bool]int{false: -1, true: 1}[a.follow]
		}
		return strings.Compare(a.path, b.path)
	})
	out := make([]namespaces.Check, 0, len(keys))
	for _, k := range keys {
		out = append(out, *s.at[k])
	}
	return out
}

// throughNoLink joins what was seen of a name and of what is behind it, where it is no link.
func (s *sightings) throughNoLink() {
	for k, behind := range s.at {
		if !k.follow || behind.Kind == namespaces.CheckText {
			continue
		}
		s.node(k.path)
		name := s.at[sight{k.path, false}]
		if name == nil || name.Mode&unix.S_IFMT == unix.S_IFLNK || name.Dev != behind.Dev || name.Ino != behind.Ino {
			continue
		}
		delete(s.at, k)
		if behind.Kind > name.Kind && name.Kind != namespaces.CheckAbsent {
			behind.Follow = false
			s.at[sight{k.path, false}] = behind
		}
	}
}

// quiet is how long nothing must have come to or gone from a folder for that to be taken as its habit.
const quiet = time.Hour

// wholeFolders says of a quiet folder that nothing came, went or was put in another's place there, instead of saying it of each of its names.
// In root's folders that goes for links and for programs and libraries, too: they are replaced, not written into.
func (s *sightings) wholeFolders() {
	names := map[string][]sight{}
	for k, c := range s.at {
		if c.Kind != namespaces.CheckText {
			names[filepath.Dir(k.path)] = append(names[filepath.Dir(k.path)], k)
		}
	}
	for dir, list := range names {
		whole := newSightings()
		whole.content(dir)
		c := whole.at[sight{dir, false}]
		if whole.doubt != "" || c.Kind != namespaces.CheckContent || c.Mode&unix.S_IFMT != unix.S_IFDIR || time.Since(time.Unix(0, int64(c.Modified))) < quiet {
			continue
		}
		rootsOwn := c.UID == 0 && c.Mode&0o022 == 0
		list = slices.DeleteFunc(list, func(k sight) bool { return !s.toldByFolder(k, rootsOwn) })
		if len(list) < 3 {
			continue
		}
		// Looked at only now: what changed in between would be hidden by it.
		if slices.ContainsFunc(list, s.changed) {
			s.doubt = dir + " was changed meanwhile"
			return
		}
		s.at[sight{dir, false}] = c
		for _, k := range list {
			delete(s.at, k)
		}
	}
}

// toldByFolder: the folder's own times tell as much as this sighting does.
func (s *sightings) toldByFolder(k sight, rootsOwn bool) bool {
	c := s.at[k]
	switch {
	case c.Kind == namespaces.CheckAbsent:
		return !k.follow
	case !rootsOwn || c.UID != 0 || k.follow:
		return false
	case c.Kind == namespaces.CheckNode:
		return c.Mode&unix.S_IFMT != unix.S_IFDIR
	}
	return c.Mode&unix.S_IFMT == unix.S_IFLNK || s.binary[k.path] && c.Mode&0o022 == 0
}

func (s *sightings) changed(k sight) bool {
	now := newSightings()
	now.see(k.path, k.follow, s.at[k].Kind)
	c, old := now.at[k], s.at[k]
	return c == nil || c.Kind != old.Kind || c.Dev != old.Dev || c.Ino != old.Ino || c.Changed != old.Changed && c.Kind == namespaces.CheckContent
}

// notedHost is the machine as pythonshim looks at it, noted.
type notedHost struct {
	pythonshim.Host
	seen  *sightings
	asked map[string]bool
}

func (h notedHost) Lstat(name string) (fs.FileInfo, error) {
	h.seen.node(name)
	return h.Host.Lstat(name)
}

func (h notedHost) Readlink(name string) (string, error) {
	h.seen.content(name)
	return h.Host.Readlink(name)
}

func (h notedHost) ReadDir(name string) ([]fs.DirEntry, error) {
	h.seen.contentBehind(name)
	return h.Host.ReadDir(name)
}

func (h notedHost) Getenv(name string) string {
	h.asked[name] = true
	return h.Host.Getenv(name)
}

func (h notedHost) Open(name string) (pythonshim.File, error) {
	h.seen.contentBehind(name)
	h.seen.binary[name] = true
	return h.Host.Open(name)
}

// proc notes the small files of the kernel that tell which control groups there are. Of swap only that there is none is worth noting:
// what is in use changes all the time, and where there is some its limit is asked for anyway.
func (s *sightings) proc() {
	for _, name := range []string{"/proc/self/mountinfo", "/proc/self/cgroup"} {
		if b, err := os.ReadFile(name); err == nil {
			s.text(name, b)
		}
	}
	if b, err := os.ReadFile("/proc/swaps"); err == nil && strings.Count(string(b), "\n") <= 1 {
		s.text("/proc/swaps", b)
	}
}
