package main

import (
	"sync"

	"psb/namespaces"
)

// knownProfile is a profile as it is now: its policy is read again when one of its files looks otherwise than it did.
type knownProfile struct {
	base boxProfile // as the options name it
	read func(boxProfile) (*profileFacts, *job, error)

	mu     sync.Mutex
	is     boxProfile
	about  *profileFacts
	checks []namespaces.Check
	err    error // why it cannot be used
}

// load reads it.
func (k *knownProfile) load() (*profileFacts, *job, error) {
	about, j, err := k.read(k.base)
	k.err = err
	if err != nil {
		return nil, nil, err
	}
	k.is, k.about, k.checks = k.base, about, nil
	k.is.Python, k.is.Texts = about.python, about.texts
	for _, c := range about.seen.at {
		k.checks = append(k.checks, *c)
	}
	return about, j, nil
}

// now gives the profile, and whether it is another one than at the last call. A policy that cannot be read is no policy: nothing runs under the one
// that was there before.
func (k *knownProfile) now() (p boxProfile, changed bool, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.err == nil && k.still() {
		return k.is, false, nil
	}
	before, failed := k.is, k.err != nil
	_, _, err = k.load()
	return k.is, failed || err != nil || !before.same(k.is), err
}

// still: its files look as they did when they were read. Without files there is nothing that could change.
func (k *knownProfile) still() bool {
	if k.about.seen.doubt != "" { // changed so shortly before that another change would not show
		return false
	}
	for i := range k.checks {
		if !unchanged(&k.checks[i]) {
			return false
		}
	}
	return true
}

// facts are those of the profile as it was last.
func (k *knownProfile) facts() *profileFacts {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.about
}

func (p boxProfile) same(o boxProfile) bool {
	if p.Name != o.Name || p.Python != o.Python || p.Policy != o.Policy || p.Folder != o.Folder || len(p.Texts) != len(o.Texts) {
		return false
	}
	for name, text := range p.Texts {
		if other, ok := o.Texts[name]; !ok || string(other) != string(text) {
			return false
		}
	}
	return true
}
