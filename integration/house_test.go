package integration

import (
	"go/ast"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// mayImport is the house: which of our folders a folder may use. A folder also uses its own sub-folders and those above it.
var mayImport = map[string]struct {
	ours []string
	why  string
}{
	"policy":                  {nil, "the one judge is asked by everything, so it asks nothing"},
	"landlock":                {nil, "a leaf: it must be testable, and readable, without the rest"},
	"seccomp":                 {nil, "a leaf: it must be testable, and readable, without the rest"},
	"cgroups":                 {nil, "a leaf: it must be testable, and readable, without the rest"},
	"namespaces":              {nil, "a leaf: it must be testable, and readable, without the rest"},
	"namespaces/broker":       {[]string{"policy", "seccomp"}, "it answers calls as the policy says, and starts nothing"},
	"namespaces/broker/names": {nil, "a leaf: what has a rule, and who hears of the rest, is told to it"},
	"namespaces/broker/relay": {nil, "it carries datagrams; what may be reached is told to it"},
	"pythonshim":              {nil, "a leaf: what it finds is data, and becomes a rule elsewhere"},
	"pythonshim/call":         {nil, "a program and the form of its report; who runs it is not its business"},
	"policy/plan":             {[]string{"policy", "landlock", "seccomp", "cgroups", "namespaces", "pythonshim"}, "it turns a policy into data for the mechanisms"},
	"policy/plan/export":      {[]string{"policy", "seccomp", "namespaces"}, "it says a plan in another tool's words, and acts on nothing"},
	"learn":                   {[]string{"policy", "policy/plan", "pythonshim"}, "it turns events into rules; who traces is not its business"},
	"learn/ptrace":            {[]string{"learn", "policy", "pythonshim", "seccomp"}, "a backend: it emits events, decides nothing, and names calls by seccomp's table"},
	"mcpserver":               {[]string{"policy"}, "it declares the Runner it needs, and is given one"},
	"cmd/psb": {[]string{"policy", "policy/plan", "policy/plan/export", "policy/approval", "policy/pysandboxes", "landlock", "seccomp", "cgroups", "namespaces", "namespaces/broker", "namespaces/broker/names", "learn", "learn/ptrace",
		"pythonshim", "pythonshim/shim", "pythonshim/call", "mcpserver"}, "it wires everything"},
	"integration":       {nil, "it holds psb to what it says and must not share its opinions"},
	"integration/score": {[]string{"integration/programs"}, "it judges psb from outside, by the programs the tests run"},
	"cmd/psb/report":    {nil, "a leaf: it writes down what it is told, and knows nothing else"},
	// It gives another launcher psb's own root and filter, and judges nothing.
	"integration/bench": {[]string{"policy/plan", "seccomp", "pythonshim"}, "it measures"},
}

// mayUse is what of the outside each folder is built on; the standard library goes without saying, see neverUse.
var mayUse = map[string][]string{
	"policy":                  {"github.com/BurntSushi/toml", "golang.org/x/sys/unix"},
	"policy/plan":             {},
	"policy/plan/export":      {},
	"landlock":                {"github.com/landlock-lsm/go-landlock", "golang.org/x/sys/unix"},
	"seccomp":                 {"github.com/seccomp/libseccomp-golang", "golang.org/x/net/bpf", "golang.org/x/sys/unix"},
	"cgroups":                 {"github.com/containerd/cgroups/v3", "golang.org/x/sys/unix"},
	"namespaces":              {"golang.org/x/sys/unix"},
	"namespaces/broker":       {"golang.org/x/sys/unix"},
	"namespaces/broker/names": {"golang.org/x/net/dns/dnsmessage"},
	"namespaces/broker/relay": {"golang.org/x/sys/unix"},
	"pythonshim":              {"golang.org/x/sys/unix"},
	"learn":                   {},
	"learn/ptrace":            {"golang.org/x/sys/unix"},
	"mcpserver":               {"github.com/modelcontextprotocol/go-sdk"},
	"pythonshim/call":         {},
	"cmd/psb":                 {"github.com/BurntSushi/toml", "github.com/spf13/cobra", "github.com/spf13/pflag", "golang.org/x/sys/unix", "golang.org/x/term"},
	"cmd/psb/report":          {},
	"integration/bench":       {"golang.org/x/net/bpf", "golang.org/x/sys/unix"},
	"integration/score":       {"github.com/BurntSushi/toml"},
	"integration/programs":    {"github.com/BurntSushi/toml"},
	"integration": {"github.com/BurntSushi/toml", "github.com/rhysd/actionlint", "github.com/rogpeppe/go-internal", "go.yaml.in/yaml/v4", "golang.org/x/net/bpf",
		"golang.org/x/net/dns/dnsmessage", "golang.org/x/sys/unix", "k8s.io/api", "k8s.io/apimachinery", "sigs.k8s.io/yaml", "github.com/opencontainers/runtime-spec"},
}

// neverUse are standard packages that have no place where they are named, and why.
var neverUse = []struct {
	imports string
	except  []string // folders
	why     string
}{
	{"log", nil, "psb speaks through cmd/psb/ui.go only"},
	{"log/slog", nil, "psb speaks through cmd/psb/ui.go only"},
	{"net/http", []string{"mcpserver", "cmd/psb", "integration"}, "every psb would pay for its start"},
	{"os/exec", []string{"cmd/psb", "integration"}, "nothing reached through a project is run outside a box"},
	{"plugin", nil, "one static binary"},
	{"encoding/gob", nil, "nothing the program controls is decoded into types of our choosing"},
	{"math/rand", []string{"integration"}, "same input, same bytes"},
	{"math/rand/v2", []string{"integration"}, "same input, same bytes"},
	{"io/ioutil", nil, "replaced by io and os"},
}

// testsMayUse is what any test may check against: the kernel's own calls, a second opinion on filters, rulesets and SARIF, scripts.
func testsMayUse(s source) []string {
	if !s.test {
		return nil
	}
	return []string{"golang.org/x/sys/unix", "golang.org/x/net/bpf", "github.com/landlock-lsm/go-landlock", "github.com/rogpeppe/go-internal",
		"github.com/owenrumney/go-sarif/v3", "github.com/santhosh-tekuri/jsonschema/v6"}
}

// house gives the entry of the map that a folder belongs to: its own, or the nearest above it.
func house[V any](m map[string]V, dir string) (key string, ok bool) {
	for d := dir; d != "."; d = path.Dir(d) {
		if _, ok := m[d]; ok {
			return d, true
		}
	}
	return "", false
}

func TestImportMap(t *testing.T) {
	for _, s := range sources(t) {
		if s.file == nil {
			continue
		}
		key, ok := house(mayImport, s.dir)
		if !ok {
			t.Errorf("%s: the folder %s has no place in the house: add it to mayImport with its reason", s.name, s.dir)
			continue
		}
		rule := mayImport[key]
		outside := mayUse[key]
		for _, imported := range s.imports {
			ours, isOurs := strings.CutPrefix(imported, "psb/")
			switch {
			case isOurs:
				family := ours == s.dir || strings.HasPrefix(ours, s.dir+"/") || strings.HasPrefix(s.dir, ours+"/")
				if !family && !slices.Contains(rule.ours, ours) {
					t.Errorf("%s imports %s, and %s may not: %s", s.name, imported, key, rule.why)
				}
			case strings.Contains(strings.SplitN(imported, "/", 2)[0], "."):
				if !slices.ContainsFunc(slices.Concat(outside, testsMayUse(s)), func(m string) bool { return within(imported, m) }) {
					t.Errorf("%s imports %s; %s is built on %v", s.name, imported, key, outside)
				}
			}
			for _, never := range neverUse {
				if imported == never.imports && !s.test && !slices.ContainsFunc(never.except, func(d string) bool { return within(s.dir, d) }) {
					t.Errorf("%s imports %s: %s", s.name, imported, never.why)
				}
			}
		}
	}
}

// TestPureHalvesBuildElsewhere: what touches no kernel builds where there is no Linux.
func TestPureHalvesBuildElsewhere(t *testing.T) {
	besideOthers(t)
	if testing.Short() {
		t.Skip("builds the standard library once more")
	}
	root, err := moduleRoot()
	must(t, err)
	pure := []string{"./policy", "./policy/plan", "./policy/plan/export", "./landlock", "./seccomp", "./cgroups", "./namespaces", "./learn", "./pythonshim/...", "./cmd/psb/report"}
	cmd := exec.Command("go", append([]string{"build"}, pure...)...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOOS=darwin", "GOARCH=arm64", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %v\n%s", cmd.Args, err, out)
	}
}

// TestPackageComments: every package says in doc.go what it is for and what it does not do.
func TestPackageComments(t *testing.T) {
	docs := map[string]string{}
	for _, s := range sources(t) {
		if s.file == nil || s.test {
			continue
		}
		if _, seen := docs[s.dir]; !seen {
			docs[s.dir] = ""
		}
		if s.file.Doc == nil {
			continue
		}
		if base := path.Base(s.name); base != "doc.go" && base != "main.go" {
			t.Errorf("%s: a package comment outside doc.go: leave an empty line before the package clause", s.name)
		}
		docs[s.dir] = s.file.Doc.Text()
	}
	for dir, text := range docs {
		switch {
		case text == "":
			t.Errorf("%s has no package comment in doc.go", dir)
		case !strings.HasPrefix(text, "Package ") && !strings.HasPrefix(text, "Command "):
			t.Errorf("%s: the package comment starts with %.30q", dir, text)
		case !strings.Contains(text, "does not") && !strings.Contains(text, "It never"):
			t.Errorf("%s: the package comment does not say what the package does not do", dir)
		}
	}
}

// TestNoPackageSpeaks: printing, ending the process and panicking are the command's alone.
func TestNoPackageSpeaks(t *testing.T) {
	for _, s := range sources(t) {
		if s.file == nil || s.test || within(s.dir, "cmd") || s.dir == "integration/bench" || s.dir == "integration/score" {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			switch f := call.Fun.(type) {
			case *ast.Ident:
				if f.Name == "print" || f.Name == "println" {
					t.Errorf("%s calls %s", s.name, f.Name)
				}
			case *ast.SelectorExpr:
				x, ok := f.X.(*ast.Ident)
				if ok && (x.Name == "fmt" && strings.HasPrefix(f.Sel.Name, "Print") || x.Name == "os" && f.Sel.Name == "Exit" || x.Name == "syscall" && f.Sel.Name == "Exit") {
					t.Errorf("%s calls %s.%s", s.name, x.Name, f.Sel.Name)
				}
			}
			return true
		})
	}
}

// TestNames: no word that says nothing.
func TestNames(t *testing.T) {
	for _, s := range sources(t) {
		for _, word := range strings.FieldsFunc(strings.TrimSuffix(s.name, path.Ext(s.name)), func(r rune) bool { return r == '/' || r == '_' || r == '-' }) {
			if slices.Contains([]string{"util", "utils", "common", "helper", "helpers", "manager", "misc"}, word) {
				t.Errorf("%s: %q says nothing of what is in it", s.name, word)
			}
		}
	}
}

// TestFilesStaySmall: one idea a file.
func TestFilesStaySmall(t *testing.T) {
	const most = 400
	for _, s := range sources(t) {
		if n := strings.Count(s.text, "\n"); n > most && !s.test && !strings.Contains(s.text, "Code generated") {
			t.Errorf("%s has %d lines: more than one idea (%d)", s.name, n, most)
		}
	}
}

// TestTopFolders: the folders at the top are fixed.
func TestTopFolders(t *testing.T) {
	root, err := moduleRoot()
	must(t, err)
	fixed := []string{"cmd", "policy", "learn", "landlock", "seccomp", "cgroups", "namespaces", "mcpserver", "pythonshim", "docs", "integration"}
	for _, name := range tracked(t, root) {
		top, _, deep := strings.Cut(name, "/")
		if deep && !slices.Contains(fixed, top) && !strings.HasPrefix(top, ".") {
			t.Errorf("%s: %s is no folder of the house", name, top)
		}
	}
}

// TestNothingOfThisMachine: no tracked file names where this copy of the project, its Go or its user's home happen to lie.
func TestNothingOfThisMachine(t *testing.T) {
	besideOthers(t)
	root, err := moduleRoot()
	must(t, err)
	places := []string{root}
	// Names that any machine may have say nothing of this one.
	usual := []string{"/", "/home", "/root", "/tmp", "/var/tmp", "/usr", "/usr/src", "/usr/local", "/usr/local/go", "/usr/lib/go", "/opt", "/src", "/build"}
	if up := filepath.Dir(root); !slices.Contains(usual, up) {
		places = append(places, up+"/")
	}
	for _, p := range []string{os.Getenv("GOROOT"), os.Getenv("GOPATH"), os.Getenv("GOCACHE"), os.Getenv("PYENV_ROOT")} {
		if p != "" && !slices.Contains(usual, filepath.Clean(p)) {
			places = append(places, p)
		}
	}
	if home, err := os.UserHomeDir(); err == nil && !slices.Contains(usual, home) {
		places = append(places, home+"/")
	}
	for _, name := range tracked(t, root) {
		b, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			continue // a name that is to be deleted
		}
		for _, p := range places {
			// As the start of a path, not as a piece of another one.
			if regexp.MustCompile(`(^|[^\w./})])` + regexp.QuoteMeta(p)).Match(b) {
				t.Errorf("%s names %s, a place of this machine", name, p)
			}
		}
	}
}

// tracked are the files git knows or would add.
func tracked(t *testing.T, root string) []string {
	t.Helper()
	_, err := exec.LookPath("git")
	ledger.Need(t, "git", err)
	cmd := exec.Command("git", "-c", "safe.directory="+root, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Skip("not a git checkout: ", err)
	}
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 })
}

// TestMakefileBuildsTheSame: what is tested here is what `make build` makes.
func TestMakefileBuildsTheSame(t *testing.T) {
	root, err := moduleRoot()
	must(t, err)
	b, err := os.ReadFile(filepath.Join(root, "Makefile"))
	must(t, err)
	text := strings.ReplaceAll(string(b), `"`, "")
	for _, want := range []string{"-trimpath", "netgo,osusergo", "-s -w -linkmode external -extldflags -static"} {
		if !strings.Contains(text, want) || !slices.ContainsFunc(buildFlags, func(f string) bool { return strings.Contains(f, want) }) {
			t.Errorf("the Makefile and buildFlags do not both have %q", want)
		}
	}
}
