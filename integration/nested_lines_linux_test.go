package integration

import (
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"psb/policy"
)

// nestedTree is what stands in the folder that the policies speak of.
var nestedTree = []string{"f", "a/f", "a/g", "a/b/f", "a/b/c/f", "d/f"}

// nestedKeys are the places that a policy may name.
var nestedKeys = []string{"./", "f", "a/", "a/f", "a/g", "a/b/", "a/b/f", "a/b/c/", "a/b/c/f", "d/", "d/f"}

// nestedPolicy is a random one: lines that lie inside each other.
func nestedPolicy(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString(bareVersion + "[python]\nshim = false\n[files]\n")
	for _, key := range nestedKeys {
		values := []string{`"read"`, `"write"`, `"write"`, `"exec"`, `["read", "exec"]`, `["exec", "write"]`, `"hide"`}
		if strings.HasSuffix(key, "/") {
			values = append(values, `"create"`, `"create"`, `"list"`, `["create", "read"]`, `["create", "list"]`, `"read"`)
		}
		if key == "./" || r.Intn(3) == 0 {
			if v := values[r.Intn(len(values))]; key != "./" || v != `"hide"` {
				fmt.Fprintf(&b, "%q = %s\n", strings.TrimPrefix("t/"+key, "t/./")+map[bool]string{true: "t/"}[key == "./"], v)
			}
		}
	}
	return b.String()
}

// nestedWords are the accesses behind what nested.py tries on an object. To remove a name is to change what stands there, and the folder's names.
func nestedWords(act, object string) []policy.Access {
	dir := filepath.Dir(object)
	switch act {
	case "read", "write", "exec":
		return []policy.Access{{Op: policy.Op(act), Object: object}}
	case "list":
		return []policy.Access{{Op: policy.OpList, Object: object + "/"}}
	case "create":
		return []policy.Access{{Op: policy.OpCreate, Object: object + "/new"}}
	case "remove":
		return []policy.Access{{Op: policy.OpCreate, Object: dir + "/"}, {Op: policy.OpWrite, Object: object}}
	}
	return nil
}

// psbsOwn reports names that the box may show though nobody granted list: a folder that psb made holds what leads to grants, and Landlock gives
// the names of a create folder with the right to make them (docs/limits.md).
func psbsOwn(p *policy.Policy, dir, names string) bool {
	for _, name := range strings.Split(names, ",") {
		leads := slices.ContainsFunc(p.Rules, func(r policy.Rule) bool {
			return r.Op == policy.OpCreate && r.Pattern.Object == dir || (r.Pattern.Object + "/")[:min(len(dir+name)+2, len(r.Pattern.Object)+1)] == dir+"/"+name+"/"
		})
		if name != "" && !leads {
			return false
		}
	}
	return true
}

// TestNestedLines compares the judge with the kernel: for small policies whose lines lie inside each other, every act on every place goes in the
// box exactly where Decide allows it, and no folder can be moved away with what is kept in it.
func TestNestedLines(t *testing.T) {
	policies := 6
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
			text := nestedPolicy(rand.New(rand.NewSource(int64(n))))
			file := s.put(t, "home/code/project/.py-sandboxes", text)
			s.give(t)
			if controlOnly() {
				t.Skip("needs psb")
			}
			p, err := policy.Parse(file, []byte(text))
			must(t, err)
			p, err = p.Expand(policy.Macros{Project: s.project, Home: s.home})
			must(t, err)
			r := s.run(t, call{argv: []string{psb(t), "--python", s.system(t, nil).path, "--policy", ".py-sandboxes", "nested.py"}})
			if r.code != 0 || r.err != "" {
				t.Fatalf("%s%v", text, r)
			}
			tried := 0
			for line := range strings.Lines(r.out) {
				act, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
				name, how, _ := strings.Cut(rest, " ")
				object := filepath.Join(s.project, name)
				want := !slices.ContainsFunc(nestedWords(act, object), func(a policy.Access) bool { return !p.Decide(a).Allowed })
				did, names, _ := strings.Cut(how, " ")
				if tried++; (did == "ok") != want && !(act == "list" && did == "ok" && psbsOwn(p, object, names)) {
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
