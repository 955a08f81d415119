package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"psb/policy"
	"psb/policy/plan"
)

// account reads the caller's line of /etc/passwd; what is missing there comes from the environment, and a home that is not an absolute
// path is no home.
func account(uid, gid int, getenv func(string) string) plan.Identity {
	id := plan.Identity{UID: uint32(uid), GID: uint32(gid), User: "user", Group: "user", Home: getenv("HOME"), Shell: "/bin/sh"}
	if f := passwdLine("/etc/passwd", uid); len(f) >= 7 {
		id.User, id.Shell = f[0], f[6]
		// The environment counts only for an account whose home is not there (nobody, container users): nothing of it could be kept.
		if fi, err := os.Stat(f[5]); err == nil && fi.IsDir() || id.Home == "" {
			id.Home = f[5]
		}
	} else if u := getenv("USER"); u != "" {
		id.User = u
	}
	if f := passwdLine("/etc/group", gid); f != nil {
		id.Group = f[0]
	}
	if !filepath.IsAbs(id.Home) {
		id.Home = "/nonexistent"
	}
	id.Home = filepath.Clean(id.Home)
	return id
}

// passwdLine finds the line of passwd(5) or group(5) whose third field is id.
func passwdLine(file string, id int) []string {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	for _, line := range strings.Split(string(b), "\n") {
		if f := strings.Split(line, ":"); len(f) >= 3 && f[2] == strconv.Itoa(id) {
			return f
		}
	}
	return nil
}

// macros says what the words of a policy's paths stand for.
func macros(id plan.Identity, project, prefix, venv, site string, lookup func(string) (string, bool)) policy.Macros {
	xdg := func(name, other string) string {
		if v, ok := lookup(name); ok && filepath.IsAbs(v) {
			return filepath.Clean(v)
		}
		return other
	}
	return policy.Macros{
		Project: project, Home: id.Home, Tmp: "/tmp", Python: prefix, Venv: venv, Site: site,
		Cache:  xdg("XDG_CACHE_HOME", filepath.Join(id.Home, ".cache")),
		Config: xdg("XDG_CONFIG_HOME", filepath.Join(id.Home, ".config")),
		Data:   xdg("XDG_DATA_HOME", filepath.Join(id.Home, ".local/share")),
		Run:    xdg("XDG_RUNTIME_DIR", ""),
		Getenv: lookup,
	}
}

// stateDir is where psb keeps its own records ($XDG_STATE_HOME/psb), never values of variables.
func stateDir(id plan.Identity, lookup func(string) (string, bool)) string {
	if v, ok := lookup("XDG_STATE_HOME"); ok && filepath.IsAbs(v) {
		return filepath.Join(v, "psb")
	}
	return filepath.Join(id.Home, ".local/state/psb")
}
