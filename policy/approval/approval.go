package approval

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"psb/policy"
)

// State is what the store knows of a policy.
type State int

// The states. The zero State is Never, so that a forgotten check approves nothing.
const (
	Never    State = iota // no text of this path was ever approved
	Approved              // exactly this text was
	Changed               // another text was
	Gone                  // a text was, and now there is no file
)

func (s State) String() string {
	return [...]string{"never approved", "approved", "changed since approval", "gone since approval"}[s]
}

// Store is the folder of approvals. Making one does nothing.
type Store struct {
	config string
}

// At gives the store below a user's configuration folder (${config}).
func At(config string) Store { return Store{config: config} }

// Files are the objects on which the approval of the policy at path rests: the folders that have to be guarded, and its record. Where
// nothing can be approved there are none.
func (s Store) Files(path string) (folders []string, record string) {
	config, psb, approved, err := s.folders()
	if err != nil {
		return nil, ""
	}
	name, err := recordName(path)
	if err != nil {
		return nil, ""
	}
	return []string{config, psb, approved}, filepath.Join(approved, name)
}

// Digest is the SHA-256, in hex, over every source's place and text, in order. Each part is preceded by its length,
// so that no two lists of sources share a digest by moving bytes from one part to the next.
func Digest(sources []policy.Source) string {
	h := sha256.New()
	part := func(b []byte) {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(b)))
		h.Write(n[:])
		h.Write(b)
	}
	part([]byte("psb approval 1"))
	for _, s := range sources {
		part([]byte(place(s)))
		part(s.Bytes)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// place names a source in a way that does not depend on the working folder.
func place(s policy.Source) string {
	if s.Path != "" {
		return s.Path
	}
	return s.Name
}

// record is one file of the store.
type record struct {
	Path    []byte // not text: JSON would lose what is no UTF-8
	Digest  string
	Sources []text
}

type text struct {
	Path []byte
	Text []byte
}

// Approve keeps the sources as the approved text of the policy at path, which must be absolute and clean. Earlier
// approvals of that path are replaced.
func (s Store) Approve(path string, sources []policy.Source) error {
	name, err := recordName(path)
	if err != nil {
		return err
	}
	if len(sources) == 0 {
		return errors.New("approve: a policy without text cannot be approved")
	}
	r := record{Path: []byte(path), Digest: Digest(sources)}
	for _, src := range sources {
		r.Sources = append(r.Sources, text{[]byte(place(src)), src.Bytes})
	}
	b, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return fmt.Errorf("approve %q: %w", path, err)
	}
	if err := s.write(name, append(b, '\n')); err != nil {
		return fmt.Errorf("approve %q: %w", path, err)
	}
	return nil
}

// Check compares the sources with the approved text of the policy at path; no sources mean that there is no file now.
// last is the approved text, nil when there is none. A store that somebody else could have written is an error, and
// so is a record that cannot be read: neither is ever taken for an approval.
func (s Store) Check(path string, sources []policy.Source) (state State, last []policy.Source, err error) {
	name, err := recordName(path)
	if err != nil {
		return Never, nil, err
	}
	b, err := s.read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return Never, nil, nil
	}
	if err != nil {
		return Never, nil, fmt.Errorf("approval of %q: %w", path, err)
	}
	var r record
	if err := json.Unmarshal(b, &r); err != nil {
		return Never, nil, fmt.Errorf("approval of %q: record %s: %w", path, name, err)
	}
	for _, t := range r.Sources {
		last = append(last, policy.Source{Name: string(t.Path), Path: string(t.Path), Bytes: t.Text})
	}
	if string(r.Path) != path || r.Digest == "" || Digest(last) != r.Digest {
		return Never, nil, fmt.Errorf("approval of %q: record %s is damaged; approve the policy again", path, name)
	}
	switch {
	case len(sources) == 0:
		return Gone, last, nil
	case Digest(sources) == r.Digest:
		return Approved, last, nil
	}
	return Changed, last, nil
}

// Forget drops the approval of path; one that does not exist is no error.
func (s Store) Forget(path string) error {
	name, err := recordName(path)
	if err != nil {
		return err
	}
	if err := s.remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget %q: %w", path, err)
	}
	return nil
}

func recordName(path string) (string, error) {
	if !filepath.IsAbs(path) || filepath.Clean(path) != path {
		return "", fmt.Errorf("approval: %q is no absolute clean path", path)
	}
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:]) + ".json", nil
}
