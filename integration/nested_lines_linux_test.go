package integration

import (
	"fmt"
	"maps"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// nestedTree is what stands in the folder that the policies speak of.
var nestedTree = []string{"f", "a/f", "a/g", "a/b/f", "a/b/c/f", "d/f"}

// nestedKeys are the places that a policy may name.
var nestedKeys = []string{"", "f", "a/", "a/f", "a/g", "a/b/", "a/b/f", "a/b/c/", "a/b/c/f", "d/", "d/f"}

// nestedPolicy is a random one: lines that lie inside each other, by place.
func nestedPolicy(r *rand.Rand) map[string]string {
	lines := map[string]string{}
	for _, key := range nestedKeys {
		values := []string{`"read"`, `"write"`, `"write"`, `"exec"`, `["read", "exec"]`, `["exec", "write"]`, `"hide"`}
		if strings.HasSuffix(key, "/") {
			values = append(values, `"create"`, `"create"`, `"list"`, `["create", "read"]`, `["create", "list"]`, `"read"`)
		}
		if key == "" || r.Intn(3) == 0 {
			if v := values[r.Intn(len(values))]; key != "" || v != `"hide"` {
				lines["t/"+key] = v
			}
		}
	}
	return lines
}

// judge asks psb policy why about one access; each is asked once.
func (s scene) judge(t *testing.T, known map[string]bool, words ...string) bool {
	t.Helper()
	key := strings.Join(words, " ")
	if _, had := known[key]; !had {
		r := s.run(t, call{argv: append([]string{psb(t), "policy", "why", "--policy", ".py-sandboxes"}, words...)})
		if r.code != 0 && r.code != 1 {
			t.Fatalf("%s: %v", key, r)
		}
		known[key] = r.code == 0
	}
	return known[key]
}

// nestedAllowed is the judge's word on what nested.py tries. To remove a name is to change what stands there, and the names of its folder.
func (s scene) nestedAllowed(t *testing.T, known map[string]bool, act, name string) bool {
	t.Helper()
	switch act {
	case "create":
		return s.judge(t, known, "create", name+"/new")
	case "remove":
		return s.judge(t, known, "create", filepath.Dir(name)+"/new") && s.judge(t, known, "write", name)
	}
	return s.judge(t, known, act, name)
}

// psbsOwn reports names that the box may show though nobody granted list: a folder that psb made holds what leads to grants, and Landlock gives
// the names of a create folder with the right to make them (docs/limits.md).
func psbsOwn(lines map[string]string, dir, names string) bool {
	if strings.Contains(lines[dir+"/"], "create") {
		return true
	}
	for _, name := range strings.Split(names, ",") {
		leads := false
		for key := range lines {
			leads = leads || strings.HasPrefix(key+"/", dir+"/"+name+"/")
		}
		if name != "" && !leads {
			return false
		}
	}
	return true
}

// TestNestedLines compares the judge with the kernel: for small policies whose lines lie inside each other, every act on every place goes in the
// box exactly where psb policy why says so, and no folder can be moved away with what is kept in it.
func TestNestedLines(t *testing.T) {
	policies := 3
	if os.Getenv("PSB_ROWS") == "all" {
		policies = 200
	}
	for n := range policies {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			who := people()[n%len(people())]
			s := newScene(t, who)
			s.behave(t, "nested")
			for _, name := range nestedTree {
				must(t, os.Chmod(s.put(t, "home/code/project/t/"+name, "#!/nowhere/at-all\n"), 0o755))
			}
			lines := nestedPolicy(rand.New(rand.NewSource(int64(n))))
			text := bareVersion + "[python]\nshim = false\n[files]\n"
			for _, key := range slices.Sorted(maps.Keys(lines)) {
				text += fmt.Sprintf("%q = %s\n", key, lines[key])
			}
			s.put(t, "home/code/project/.py-sandboxes", text)
			s.give(t)
			if controlOnly() {
				t.Skip("needs psb")
			}
			r := s.run(t, call{argv: []string{psb(t), "--python", s.system(t, nil).path, "--policy", ".py-sandboxes", "nested.py"}})
			if r.code != 0 || r.err != "" {
				t.Fatalf("%s%v", text, r)
			}
			tried, known := 0, map[string]bool{}
			for line := range strings.Lines(r.out) {
				act, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
				name, how, _ := strings.Cut(rest, " ")
				did, names, _ := strings.Cut(how, " ")
				want := s.nestedAllowed(t, known, act, name)
				if tried++; (did == "ok") != want && !(act == "list" && did == "ok" && psbsOwn(lines, name, names)) {
					t.Errorf("%s %s: the box says %s, the judge %v", act, name, how, want)
				}
			}
			if tried != 4*len(nestedTree)+2*5 {
				t.Errorf("%d acts", tried)
			}
			if t.Failed() {
				t.Log(text)
			}
		})
	}
}
