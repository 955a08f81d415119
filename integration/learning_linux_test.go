package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// lesson is a program of testdata/learning with the policy that learning it has to write, line by line.
type lesson struct {
	name    string            // what is shown
	program string            // NAME of testdata/learning/NAME.py
	files   map[string]string // put below the scene; "link TEXT" makes a link, a name ending in "/" a folder
	remove  []string          // what the control run leaves, and must not be there when learning starts
	setup   [][]string        // command lines run in the project before each of the two
	args    []string
	bare    []string // arguments of the control run, where they have to differ
	env     []string
	needs   string
	policy  []string // the lines after the version, without empty ones and without a table's comment
	said    []string // what psb says of the learning run, apart from what depends on the interpreter
	learns  string   // what the program prints while it is learned, where that is not what the control prints
	runs    string   // and what it prints under the policy
}

// Names in lessons: HOME is the scene's home folder. For root that is not the account's, so a line about it starts at the root there.
const headOfEvery = "# Rights of NAME.py, learned by psb; one rule a line, edit freely. Format: psb policy help\n" +
	"# Read the lines marked ! first, then commit this file.\nversion = 1\n"

var lessons = []lesson{
	{name: "process numbers", program: "process_numbers", files: map[string]string{"home/code/project/run/": ""},
		policy: []string{`[files]`, `"run/" = "create"  # process_numbers`, `"./" = "list"  # import of subprocess`, `[python.import]`, `"subprocess" = true  # ! a sensitive module; process_numbers`,
			`[python.call]`, `"subprocess.Popen" = true  # ! starts other programs or copies of this one; process_numbers`}},
	{name: "cache of hashes", program: "hash_cache", remove: []string{"home/.cache"},
		policy: []string{`[files]`, `"${cache}/demo/v1/" = "write"  # hash_cache; 6 files seen`, `"./" = "list"  # import of hashlib`}},
	{name: "ports", program: "ports",
		policy: []string{`[files]`, `"./" = "list"  # import of socket`, `[net]`, `"0.0.0.0:18765" = "listen"  # ! others on the network can reach it; ports`,
			`"127.0.0.1:18765" = "listen"  # ports`, `[python.import]`, `"socket" = true  # ! a sensitive module; ports`, `[python.call]`, `"threading.Thread.start" = true  # ports`}},
	{name: "folders that are there", program: "folders_there", files: map[string]string{"home/code/project/logs/": "", "home/code/project/data/deep/": "", "home/.ssh/": ""},
		policy: []string{`[files]`, `"data/deep/" = "list"  # folders_there`, `"logs/" = "list"  # folders_there`, `"HOME/code/sibling/" = "list"  # folders_there`},
		said:   []string{"refused while learning: write HOME/code/new (EROFS)"},
		learns: "new Read-only file system\n", runs: "HOME/.ssh Read-only file system\nnew Read-only file system\n"},
	{name: "new files in sensitive folders", program: "sensitive_folders", files: map[string]string{"home/.ssh/": "", "home/.aws/": ""}, remove: []string{"home/.config/psb-demo"},
		said: []string{"never granted: write HOME/.aws/psb-test (EACCES)", "never granted: write HOME/.ssh/psb-test (EACCES)",
			"refused while learning: write HOME/.config/psb-demo (EROFS)", "refused while learning: write HOME/psb-test (EROFS)"},
		learns: "~/.ssh/psb-test refused\n~/.aws/psb-test refused\n~/psb-test refused\n~/.config/psb-demo/new.ini refused\n",
		runs:   "~/.ssh/psb-test refused\n~/.aws/psb-test refused\n~/psb-test refused\n~/.config/psb-demo/new.ini refused\n"},
	{name: "the root, /etc and the home", program: "wide_folders", files: map[string]string{"home/code/project/data/x": ""},
		policy: []string{`[files]`, `"./" = "list"  # import of glob`, `"data/" = "list"  # wide_folders.names`},
		said:   []string{"refused while learning: list / (EACCES)", "left out: the names in /etc/", "left out: the names in HOME/"},
		learns: "Permission denied True True True\nTrue True\n", runs: "Permission denied True Permission denied True\nTrue True\n"},
	{name: "programs run by programs", program: "programs", needs: "git",
		policy: []string{`[files]`, `"/bin/sh" = "exec"  # ! runs a program; programs`, `"/usr/bin/git" = "exec"  # ! runs a program; dash`,
			`"/usr/bin/sed" = "exec"  # ! runs a program; dash`, `"./" = "list"  # import of subprocess`, `"/etc/gitconfig" = "read"  # git`,
			`[python.import]`, `"subprocess" = true  # ! a sensitive module; programs`, `[python.call]`, `"subprocess.Popen" = true  # ! starts other programs or copies of this one; programs`, `"threading.Thread.start" = true  # programs`}},
	{name: "links", program: "links", files: linked,
		policy: []string{`[files]`, `"alias" = "read"  # links`, `"current/c" = "read"  # links`}},
	{name: "links in a folder that is written", program: "links", args: []string{"write"}, files: linked, remove: []string{"home/code/project/out.txt"},
		policy: []string{`[files]`, `"./" = "create"  # links`, `"out.txt" = "write"  # links`, `"rel1/c" = "read"  # links`}},
	{name: "parts of one person", program: "one_person", files: map[string]string{"home/settings.ini": "a=1\n", "home/code/project/data/in.csv": "1,2\n"},
		remove: []string{"home/.cache", "home/code/project/data.txt"},
		policy: []string{`[files]`, `"./" = ["create", "list"]  # one_person`, `"${cache}/demo/" = "write"  # one_person`, `"data.txt" = "write"  # one_person`,
			`"data/in.csv" = "read"  # one_person`, `"HOME/settings.ini" = "read"  # one_person`}},
	{name: "the floor", program: "untrusted", args: []string{"meta"}, bare: []string{}, needs: "git", setup: [][]string{{"git", "init", "-q"}}, files: map[string]string{
		"home/.ssh/id_ed25519": "K", "home/.aws/credentials": "K", "home/.config/gh/hosts.yml": "K", "home/.netrc": "K", "home/.bashrc": ""},
		remove: []string{"home/code/project/.py-sandboxes", "home/code/project/.git"},
		policy: []string{`[files]`, `"/bin/sh" = "exec"  # ! runs a program; untrusted`, `"./" = "list"  # import of socket`,
			`[python.import]`, `"socket" = true  # ! a sensitive module; untrusted`, `"subprocess" = true  # ! a sensitive module; untrusted`, `[python.call]`, `"subprocess.Popen" = true  # ! starts other programs or copies of this one; untrusted`},
		said: []string{"planted: .py-sandboxes: the program wrote it; replaced",
			"never granted: connect 169.254.169.254:80 (EACCES)", "never granted: read HOME/.aws/credentials (EACCES)", "never granted: read HOME/.config/gh/hosts.yml (EACCES)", "never granted: read HOME/.netrc (EACCES)",
			"never granted: read HOME/.ssh/id_ed25519 (EACCES)", "never granted: write HOME/.bashrc (EROFS)", "never granted: write HOME/code/project/.git/config (EROFS)",
			"never granted: write HOME/code/project/.git/hooks/pre-commit (EROFS)", "never granted: write HOME/code/project/.py-sandboxes"},
		learns: floorOf + "refused .git/hooks/pre-commit\nrefused .git/config\nwrote .py-sandboxes\nrefused the metadata address\n",
		runs:   floorOf + "refused .git/hooks/pre-commit\nrefused .git/config\nrefused .py-sandboxes\nrefused the metadata address\n"},
	{name: "environment", program: "environment", env: []string{"MY_SETTING=sent", "MY_API_KEY=sekrit-value", "OTHER=o"},
		policy: []string{`[env]`, `MY_API_KEY = true  # ! a secret; environment`, `MY_SETTING = true  # environment`}},
	{name: "names that are others in every run", program: "every_run_others", files: map[string]string{"home/code/project/jobs/keep": "", "home/code/project/helper.py": "x = 1\n"},
		remove: []string{"home/code/project/jobs", "home/code/project/__pycache__"},
		policy: []string{`[files]`, `"jobs/" = ["create", "list"]  # every_run_others`, `"jobs/base.db" = "write"  # every_run_others`, `"jobs/state" = "write"  # every_run_others`,
			`"./" = "list"  # import of datetime`, `"helper.py" = "read"  # import of helper`}},
	{name: "a first submodule", program: "submodule", needs: "git", setup: [][]string{{"git", "init", "-q"}}, remove: []string{"home/code/project/.git", "home/code/project/lib"},
		policy: []string{`[files]`, `"./" = "create"  # submodule`, `"lib/" = "write"  # ! new code or settings; submodule`},
		said: []string{"left out: a new repository, .git/modules/lib/: git runs what its hooks and settings say",
			"left out: write to .git/modules, which runs or configures git", "planted: .git/modules"},
		learns: "added\n", runs: "refused\n"},
	{name: "the folder git's settings name for hooks", program: "hooks_path", needs: "git", setup: [][]string{{"git", "init", "-q"}, {"git", "config", "core.hooksPath", "team"}},
		remove: []string{"home/code/project/.git", "home/code/project/team", "home/code/project/made"},
		policy: []string{`[files]`, `"./" = "create"  # hooks_path`, `"made/" = "write"  # hooks_path`},
		said:   []string{"never granted: write HOME/code/project/team", "never granted: write HOME/code/project/team/pre-commit", "planted: team"}},
}

// linked is a folder with two releases and links to the first.
var linked = map[string]string{"home/code/project/rel1/c": "1\n", "home/code/project/rel2/c": "2\n", "home/code/project/current": "link rel1", "home/code/project/alias": "link rel1/c"}

const floorOf = "refused ~/.ssh/id_ed25519\nrefused ~/.aws/credentials\nrefused ~/.config/gh/hosts.yml\nrefused ~/.netrc\n"

// noise is what no learned policy may hold: numbers of processes, random and temporary names, hashes, ports, byte code, locks, values.
var noise = regexp.MustCompile(`/proc/|"/tmp|\$\{tmp\}|tmp[a-z0-9_]{8}|[0-9a-f]{8}|:0"|:[3-6]\d{4}"|__pycache__|\.pyc|\.lock|-journal|sekrit-value`)

// TestLearning learns each program, compares the policy with what it has to be, runs the program under it, and learns it again, which must not
// touch the file.
func TestLearning(t *testing.T) {
	for _, l := range lessons {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			for _, who := range people() {
				t.Run(who.name, func(t *testing.T) { l.hold(t, newScene(t, who)) })
			}
		})
	}
}

// setUp makes the project ready for a run.
func (l lesson) setUp(t *testing.T, s scene) {
	t.Helper()
	for _, name := range l.remove {
		must(t, os.RemoveAll(filepath.Join(s.dir, name)))
	}
	for name, text := range l.files {
		path := filepath.Join(s.dir, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		link, isLink := strings.CutPrefix(text, "link ")
		switch {
		case strings.HasSuffix(name, "/"):
			must(t, os.MkdirAll(path, 0o755))
		case isLink:
			os.Remove(path)
			must(t, os.Symlink(link, path))
		default:
			must(t, os.WriteFile(path, []byte(text), 0o644))
		}
	}
	s.learnable(t, l.program)
	for _, argv := range l.setup {
		if got := s.run(t, call{argv: argv}); got.code != 0 {
			t.Fatalf("setup %q: %v", argv, got)
		}
	}
}

// learnable puts a program of testdata/learning into the project.
func (s scene) learnable(t testing.TB, program string) {
	t.Helper()
	b, err := os.ReadFile("testdata/learning/" + program + ".py")
	must(t, err)
	must(t, os.WriteFile(filepath.Join(s.project, program+".py"), b, 0o644))
	s.give(t)
}

func (l lesson) hold(t *testing.T, s scene) {
	_, err := s.choose(t, "system", nil)
	ledger.Need(t, "python3", err)
	if l.needs != "" {
		_, err := exec.LookPath(l.needs)
		ledger.Need(t, l.needs, err)
	}
	l.setUp(t, s)
	args := l.args
	if l.bare != nil {
		args = l.bare
	}
	control := s.run(t, call{argv: slices.Concat([]string{systemPython, l.program + ".py"}, args), env: l.env})
	if control.code != 0 {
		t.Fatalf("control: %v", control)
	}
	if controlOnly() {
		return
	}
	l.setUp(t, s)
	learn := slices.Concat([]string{psb(t), "--python", systemPython, "--learn", l.program + ".py"}, l.args)
	first := s.run(t, call{argv: learn, env: l.env})
	policy, _ := s.policy(t)
	want := strings.ReplaceAll(headOfEvery, "NAME", l.program) + lines(l.policy)
	if got := s.placeless(policy); got != want && (s.who.uid != 0 || lines(sorted(got)) != lines(sorted(want))) {
		t.Errorf("the policy is\n%s\nwant\n%s", got, want)
	}
	if got, want := s.saying(first), sorted(lines(l.said)); !slices.Equal(got, want) {
		t.Errorf("psb said\n%swant\n%s", lines(got), lines(want))
	}
	if found := noise.FindAllString(s.placeless(policy), -1); found != nil {
		t.Errorf("the policy holds what is another in the next run: %q", found)
	}
	for _, problem := range lint(policy, s.home, s.project) {
		t.Errorf("too wide: %s", problem)
	}
	same := func(what, text string, got result) {
		t.Helper()
		if text == "" {
			text = control.out
		}
		if got.code != 0 || s.placeless(got.out) != s.placeless(text) || withoutPsb(got.err) != control.err {
			t.Errorf("%s: %v\nwant the output\n%s", what, got, text)
		}
	}
	same("while learning", l.learns, first)
	l.setUpAgain(t, s)
	enforced := s.run(t, call{argv: slices.Delete(slices.Clone(learn), 3, 4), env: l.env})
	same("enforced", l.runs, enforced)

	l.setUpAgain(t, s)
	before, err := os.Stat(filepath.Join(s.project, ".py-sandboxes"))
	must(t, err)
	if again := s.run(t, call{argv: learn, env: l.env}); again.code != 0 {
		t.Errorf("learning again: %v", again)
	}
	after, err := os.Stat(filepath.Join(s.project, ".py-sandboxes"))
	must(t, err)
	if second, _ := s.policy(t); second != policy || !os.SameFile(before, after) || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("learning again touched the policy, which is now\n%s", second)
	}
	s.noTrail(t)
}

// setUpAgain gives an enforced run a fresh project; the policy stays.
func (l lesson) setUpAgain(t *testing.T, s scene) {
	t.Helper()
	policy, _ := s.policy(t)
	l.setUp(t, s)
	must(t, os.WriteFile(filepath.Join(s.project, ".py-sandboxes"), []byte(policy), 0o644))
	s.give(t)
}

// noTrail checks that writing left nothing beside the policy.
func (s scene) noTrail(t *testing.T) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(s.project, ".*sandboxes*"))
	must(t, err)
	if len(found) != 1 {
		t.Errorf("beside the policy there are %q", found)
	}
}

// placeless names the scene's home HOME wherever it stands, and leaves out empty lines and the comment of a table.
func (s scene) placeless(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "[") {
			line, _, _ = strings.Cut(line, "  # ")
			line = strings.TrimSuffix(line, "\n") + "\n"
		}
		line = strings.ReplaceAll(line, s.home, "HOME")
		if strings.HasPrefix(line, `"~/`) {
			line = `"HOME` + line[2:]
		}
		if line != "\n" {
			out.WriteString(line)
		}
	}
	return out.String()
}

// saying is what psb said of a learning run, sorted, without what it learned (the policy shows that) and what the interpreter looked for.
func (s scene) saying(r result) []string {
	said, _ := psbLines(r.err)
	var out []string
	for _, line := range said {
		line = strings.ReplaceAll(strings.TrimPrefix(line, "psb: "), s.home, "HOME")
		line = strings.ReplaceAll(line, "~/", "HOME/")
		switch word, _, _ := strings.Cut(line, " "); {
		case word == "learned:" || word == "learned" || word == "reported" || word == "wrote" || word == "at", strings.HasPrefix(line, "not set:"), strings.HasPrefix(line, "not found:"):
		default:
			out = append(out, line)
		}
	}
	slices.Sort(out)
	return out
}

func sorted(text string) []string {
	out := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if text == "" {
		out = nil
	}
	slices.Sort(out)
	return out
}

func lines(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return strings.Join(list, "\n") + "\n"
}
