package mcpserver

import (
	"fmt"
	"path"
	"strings"
	"unicode/utf8"
)

// Workspace is where the code runs and where its files lie, inside the box.
const Workspace = "/workspace"

// workspacePath makes a name below the workspace clean: "./a", "a//b", "a/x/../b", "/workspace/a" are names of it, and what leaves it is an error.
// "" and "." are the workspace itself.
func workspacePath(name string) (string, error) {
	if !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return harmful(r) || r == '\n' || r == '\t' }) {
		return "", fmt.Errorf("%s: a name with characters that cannot be seen", quote(name))
	}
	rel := name
	if path.IsAbs(rel) {
		below, ok := strings.CutPrefix(path.Clean(rel), Workspace)
		if !ok || below != "" && below[0] != '/' {
			return "", fmt.Errorf("%s: not below %s", quote(name), Workspace)
		}
		rel = strings.TrimPrefix(below, "/")
	}
	rel = path.Clean(rel)
	if rel == ".." || strings.HasPrefix(rel, "../") {
		return "", fmt.Errorf("%s: it leaves %s", quote(name), Workspace)
	}
	if rel == "." {
		rel = ""
	}
	if len(rel) > 1024 {
		return "", fmt.Errorf("%s: longer than 1024 bytes", quote(name))
	}
	for part := range strings.SplitSeq(rel, "/") {
		if len(part) > 255 {
			return "", fmt.Errorf("%s: a part is longer than 255 bytes", quote(name))
		}
	}
	return rel, nil
}

// filePath is workspacePath for a file, which the workspace is not.
func filePath(name string) (string, error) {
	p, err := workspacePath(name)
	if err == nil && p == "" {
		err = fmt.Errorf("%s: a file's name is needed", quote(name))
	}
	return p, err
}

// Matches reports whether a clean name fits a pattern: path.Match's, where "**" stands for any folders, and a pattern without a slash fits the last
// part alone.
func Matches(pattern, name string) bool {
	pattern = strings.TrimPrefix(strings.TrimPrefix(pattern, Workspace+"/"), "./")
	if !strings.Contains(pattern, "/") && pattern != "**" {
		ok, _ := path.Match(pattern, path.Base(name))
		return ok
	}
	return matchParts(strings.Split(pattern, "/"), strings.Split(name, "/"))
}

func matchParts(pattern, name []string) bool {
	for len(pattern) > 0 {
		if pattern[0] == "**" {
			for len(pattern) > 1 && pattern[1] == "**" {
				pattern = pattern[1:]
			}
			if len(pattern) == 1 {
				return true
			}
			for i := range name {
				if matchParts(pattern[1:], name[i:]) {
					return true
				}
			}
			return false
		}
		if len(name) == 0 {
			return false
		}
		if ok, _ := path.Match(pattern[0], name[0]); !ok {
			return false
		}
		pattern, name = pattern[1:], name[1:]
	}
	return len(name) == 0
}

// goodPattern refuses what path.Match cannot read, and more stars than a match should cost.
func goodPattern(p string) error {
	if _, err := path.Match(p, ""); err != nil {
		return fmt.Errorf("%s: no pattern", quote(p))
	}
	if strings.Count(p, "**") > 4 || len(p) > 256 {
		return fmt.Errorf("%s: too much of a pattern", quote(p))
	}
	return nil
}
