package main

import (
	"bytes"
	"errors"
	"io"

	"psb/policy"
	"psb/policy/approval"
)

// merge joins policy files: into the policy named by --policy, which is the first of them then, into the file of -o, or to stdout.
func (e *editing) merge(names []string, out string, into bool) error {
	target := ""
	switch {
	case into && out != "":
		return &usageError{"-o and --policy both name where the result goes", "psb policy merge A B -o FILE"}
	case into:
		target = e.path
		if present(target) {
			names = append([]string{shown(e.w.cwd, target)}, names...)
		}
	case out != "":
		target = absolute(e.w.cwd, out)
	}
	if len(names) < 2 && !into {
		return &usageError{"merge joins two files or more", "psb policy merge A B, or psb policy merge --policy FILE A"}
	}
	sources, err := e.sources(names)
	if err != nil {
		return err
	}
	m, err := policy.Merge(sources)
	if err != nil {
		var pe *policy.ParseError
		if errors.As(err, &pe) {
			return refuse("nothing is written; change one of the files", "%s", err)
		}
		return refuse("", "%s", err)
	}
	for _, r := range m.Refused {
		e.w.ui.say("%s", r)
	}
	if target == "" {
		_, err := e.w.stdio[1].Write(m.Text)
		return err
	}
	return e.writeMerged(target, sources, m)
}

// sources reads the files to be merged; "-" is stdin.
func (e *editing) sources(names []string) ([]policy.Source, error) {
	var out []policy.Source
	stdin := 0
	for _, name := range names {
		s := policy.Source{Name: name, Path: absolute(e.w.cwd, name)}
		var err error
		if name == "-" {
			stdin++
			s.Bytes, err = io.ReadAll(io.LimitReader(e.w.stdio[0], policy.MaxSize+1))
		} else {
			s.Bytes, err = policy.ReadFile(s.Path)
		}
		switch {
		case stdin > 1:
			return nil, &usageError{"only one policy can come from stdin", "psb policy merge - FILE"}
		case err != nil && name != "-" && !present(s.Path):
			return nil, refuse("", "policy %s: no such file", plainText(name))
		case err != nil:
			return nil, refuse("", "%s", err)
		}
		out = append(out, s)
	}
	return out, nil
}

// writeMerged puts the result in its place. What stands there must be a policy. It stays approved where it and all that came in were.
func (e *editing) writeMerged(target string, sources []policy.Source, m policy.Merged) error {
	one := *e
	one.path = target
	one.macros = newEditing(e.w, target).macros
	name := shown(e.w.cwd, target)
	trusted := present(target)
	for _, s := range sources {
		trusted = trusted && one.approved(s.Path, s.Bytes)
	}
	if present(target) {
		src, err := policy.ReadFile(target)
		if err != nil {
			return refuse("", "%s", err)
		}
		trusted = trusted && one.approved(target, src)
		if _, err := policy.Parse(name, src); err != nil {
			return refuse("name another file", "%s is no policy, and stays: %s", plainText(name), err)
		}
	}
	p, err := policy.Load(one.reading(map[string][]byte{target: m.Text}), name, one.macros)
	if err != nil {
		return one.refused(err)
	}
	wrote := true
	err = policy.UpdateThen(target, func(old []byte, exists bool) ([]byte, error) {
		if exists {
			for _, s := range sources {
				if s.Path == target && !bytes.Equal(s.Bytes, old) {
					return nil, errors.New("it changed meanwhile; nothing is written")
				}
			}
			wrote = !bytes.Equal(old, m.Text)
		}
		return m.Text, nil
	}, func() error {
		if !trusted {
			return nil
		}
		return approval.At(one.macros.Config).Approve(target, p.Sources)
	})
	if err != nil {
		return one.refused(err)
	}
	if len(sources) > 0 && sources[0].Path == target {
		for _, c := range m.Changes {
			if err := e.sayLine("%s", changeLine(name, c)); err != nil {
				return err
			}
		}
	}
	if wrote && !trusted {
		e.w.ui.say("%s is not approved: what came in may be others' work", name)
		e.w.ui.hint("read it, then psb policy approve%s", one.flag())
	}
	return nil
}

// approved says whether the policy at a path has this text, and it is, with its includes, as it was approved.
func (e *editing) approved(path string, text []byte) bool {
	one := newEditing(e.w, path)
	p, err := policy.Load(policy.ReadFile, shown(e.w.cwd, path), one.macros)
	if err != nil || !bytes.Equal(p.Sources[0].Bytes, text) {
		return false
	}
	state, _, err := approval.At(one.macros.Config).Check(path, p.Sources)
	return err == nil && state == approval.Approved
}
