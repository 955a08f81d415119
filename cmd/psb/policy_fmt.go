package main

import (
	"bytes"
	"errors"

	"psb/policy"
	"psb/policy/approval"
)

// format writes the file in its one form, or with check only says whether it is. An approved file stays approved: it says the same.
func (e *editing) format(check bool) (status int, err error) {
	name := shown(e.w.cwd, e.path)
	if !present(e.path) {
		return exitRefused, refuse("psb policy fmt FILE", "policy %s: no such file", plainText(name))
	}
	src, err := policy.ReadFile(e.path)
	if err != nil {
		return exitRefused, refuse("", "%s", err)
	}
	out, err := policy.Format(name, src)
	switch {
	case err != nil:
		return exitRefused, refuse("psb policy help", "%s", err)
	case bytes.Equal(src, out):
		return 0, nil
	case check:
		return 1, e.sayLine("%s", name)
	}
	return 0, e.rewrite(src, out)
}

// rewrite puts a text that means the same in place of the file's, and approves it where the old one was.
func (e *editing) rewrite(old, text []byte) error {
	store := approval.At(e.macros.Config)
	trusted := false
	if p, err := policy.Load(policy.ReadFile, shown(e.w.cwd, e.path), e.macros); err == nil { // one that cannot be loaded is not approved either
		state, _, err := store.Check(e.path, p.Sources)
		if err != nil {
			return refuse("", "approvals: %s", err)
		}
		trusted = state == approval.Approved
	}
	err := policy.UpdateThen(e.path, func(now []byte, _ bool) ([]byte, error) {
		if !bytes.Equal(now, old) {
			return nil, errors.New("it changed meanwhile; nothing is written")
		}
		return text, nil
	}, func() error {
		if !trusted {
			return nil
		}
		p, err := e.load()
		if err != nil {
			return err
		}
		return store.Approve(e.path, p.Sources)
	})
	if err != nil {
		return e.refused(err)
	}
	return nil
}
