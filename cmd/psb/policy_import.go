package main

import (
	"errors"
	"os"
	"path/filepath"

	"psb/policy"
	"psb/policy/pysandboxes"
)

// bring turns a key=value file of pysandboxes into a policy. What has no equivalent is told, line by line.
func (e *editing) bring(name, out string) error {
	src, err := policy.ReadFile(absolute(e.w.cwd, name))
	switch {
	case err != nil && !present(absolute(e.w.cwd, name)):
		return refuse("", "%s: no such file", plainText(name))
	case err != nil:
		return refuse("", "%s", err)
	}
	if out != "" && present(absolute(e.w.cwd, out)) {
		return refuse("give the old file another name first, or -o another", "%s is there already, and stays", plainText(out))
	}
	m := e.macros
	m.Project = filepath.Dir(absolute(e.w.cwd, name))
	m.Cwd = m.Project
	got, err := pysandboxes.Import(name, src, m, func(path string) pysandboxes.Kind {
		switch fi, err := os.Stat(path); {
		case err != nil:
			return pysandboxes.Absent
		case fi.IsDir():
			return pysandboxes.Folder
		case fi.Mode()&0o111 != 0:
			return pysandboxes.Program
		}
		return pysandboxes.File
	})
	for _, r := range got.Remarks {
		e.w.ui.say("%s", r)
	}
	if err != nil {
		return refuse("", "%s: nothing could be read: %s", plainText(name), err)
	}
	if out == "" {
		_, err := e.w.stdio[1].Write(got.Text)
		return err
	}
	one := newEditing(e.w, out)
	err = policy.Update(one.path, func(_ []byte, exists bool) ([]byte, error) {
		if exists {
			return nil, errors.New("it came meanwhile, and stays")
		}
		return got.Text, nil
	})
	if err != nil {
		return one.refused(err)
	}
	e.w.ui.hint("read %s, lines marked ! first, then psb policy approve%s", shown(e.w.cwd, one.path), one.flag())
	return nil
}
