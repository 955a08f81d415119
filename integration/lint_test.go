package integration

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
)

// lint says what no learned policy may hold: a rule on the root, on /etc, on the home, on the whole project for writing, or on a place
// where credentials lie. It reads the text itself and does not ask psb, whose opinion it is there to check.
func lint(policy, home, project string) (problems []string) {
	var p struct {
		Files map[string]any
		Env   map[string]any
	}
	if _, err := toml.Decode(policy, &p); err != nil {
		return []string{"it is no TOML: " + err.Error()}
	}
	for key, value := range p.Files {
		rights := words(value)
		place := key
		switch {
		case place == "~" || strings.HasPrefix(place, "~/"):
			place = filepath.Join(home, place[1:])
		case strings.HasPrefix(place, "${project}"):
			place = filepath.Join(project, place[len("${project}"):])
		case !filepath.IsAbs(place):
			place = filepath.Join(project, place)
		}
		place = filepath.Clean(place)
		tree := strings.HasSuffix(key, "/")
		if slices.Contains([]string{"/", "/etc", "/home", "/root", "/usr", "/var", "/proc", "/sys", "/dev", "/run", home, filepath.Dir(home)}, place) {
			problems = append(problems, fmt.Sprintf("%q = %q", key, rights))
		}
		if tree && (slices.Contains(rights, "write") || slices.Contains(rights, "exec")) && within(project, place) {
			problems = append(problems, fmt.Sprintf("the whole project: %q = %q", key, rights))
		}
		for _, store := range []string{".ssh", ".aws", ".gnupg", ".kube", ".netrc", ".docker", ".config/gcloud", ".config/gh", ".git-credentials", ".pypirc", ".npmrc"} {
			if within(place, filepath.Join(home, store)) && !slices.Contains(rights, "hide") {
				problems = append(problems, fmt.Sprintf("a credential store: %q = %q", key, rights))
			}
		}
		for _, bait := range []string{".env", "notes", "other.py"} {
			if within(place, filepath.Join(project, bait)) && !slices.Contains(rights, "hide") {
				problems = append(problems, fmt.Sprintf("never used: %q = %q", key, rights))
			}
		}
	}
	slices.Sort(problems)
	return problems
}

// within reports whether path is dir or lies below it.
func within(path, dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }

func words(v any) (list []string) {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		for _, x := range v {
			list = append(list, fmt.Sprint(x))
		}
	case map[string]any:
		return words(v["right"])
	}
	return list
}

func TestLint(t *testing.T) {
	const home, project = "/home/ann", "/home/ann/code/p"
	for _, c := range []struct {
		line string
		want string // part of the one problem; "" for none
	}{
		{`"data/sales.csv" = "read"`, ""},
		{`"out/" = ["create", "list"]`, ""},
		{`"./" = "list"`, ""},
		{`"./" = "create"`, ""},
		{`"out/" = "write"`, ""},
		{`"~/.cache/matplotlib/" = "create"`, ""},
		{`"/etc/matplotlibrc" = "read"`, ""},
		{`".env" = "hide"`, ""},
		{`"/" = "read"`, `"/" = ["read"]`},
		{`"/etc/" = "list"`, `"/etc/" = ["list"]`},
		{`"~/" = "list"`, `"~/" = ["list"]`},
		{`"/home/ann/" = "read"`, `"/home/ann/" = ["read"]`},
		{`"./" = "write"`, `the whole project`},
		{`"./" = ["list", "write"]`, `the whole project`},
		{`"${project}/" = "write"`, `the whole project`},
		{`"/home/ann/code/" = "write"`, `the whole project`},
		{`"/home/ann/code/p/" = { from = "./x/", right = "write" }`, `the whole project`},
		{`"~/.ssh/id_rsa" = "read"`, `a credential store`},
		{`"notes/" = "read"`, `never used`},
		{`other.py = "read`, `no TOML`},
	} {
		got := lint("version = 1\n[files]\n"+c.line+"\n", home, project)
		if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || !strings.Contains(got[0], c.want)) {
			t.Errorf("%s: %q, want %q", c.line, got, c.want)
		}
	}
}
