package integration

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rhysd/actionlint"
	"go.yaml.in/yaml/v4"
)

// A recipe is one of the pipeline files of docs/ci, taken apart.
type recipe struct {
	file string
	jobs map[string][]recipeStep
	env  func(p *pipeline) []string // what the service sets
}

type recipeStep struct{ name, run string }

// notRun are steps that need root, a network or a runner of the service: what they do the test has done before.
var notRun = map[string]string{
	"Install psb":             "the binary under test is on PATH",
	"Let psb make namespaces": "it is for root of the runner",
}

func githubRecipe(t *testing.T) recipe {
	text := recipeText(t, "github-actions.yml")
	w, errs := actionlint.Parse(text)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	r := recipe{file: "github-actions.yml", jobs: map[string][]recipeStep{}, env: func(p *pipeline) []string {
		return []string{"BASE=" + p.base, "RUNNER_TEMP=" + p.temp, "GITHUB_STEP_SUMMARY=" + p.temp + "/summary.md"}
	}}
	for name, job := range w.Jobs {
		for _, s := range job.Steps {
			if run, ok := s.Exec.(*actionlint.ExecRun); ok {
				r.jobs[name] = append(r.jobs[name], recipeStep{s.Name.Value, run.Run.Value})
			}
		}
	}
	return r
}

func gitlabRecipe(t *testing.T) recipe {
	type job struct {
		Before    []string `yaml:"before_script"`
		Script    []string
		Artifacts struct {
			Reports struct{ Junit string }
		}
	}
	var doc struct{ Confined, Rights job }
	must(t, yaml.Unmarshal(recipeText(t, "gitlab-ci.yml"), &doc))
	if doc.Confined.Artifacts.Reports.Junit != "psb.xml" {
		t.Error("gitlab-ci.yml does not show the JUnit report")
	}
	r := recipe{file: "gitlab-ci.yml", jobs: map[string][]recipeStep{}, env: func(p *pipeline) []string {
		return []string{"CI_PROJECT_DIR=" + p.project, "CI_MERGE_REQUEST_TARGET_BRANCH_NAME=main", "PIP_DISABLE_PIP_VERSION_CHECK=1"}
	}}
	for name, j := range map[string]job{"confined": doc.Confined, "rights": doc.Rights} {
		for _, line := range slices.Concat(j.Before, j.Script) {
			r.jobs[name] = append(r.jobs[name], recipeStep{line, line})
		}
	}
	return r
}

func recipeText(t *testing.T, file string) []byte {
	t.Helper()
	root, err := moduleRoot()
	must(t, err)
	b, err := os.ReadFile(filepath.Join(root, "docs", "ci", file))
	must(t, err)
	return b
}

// TestRecipeFilesAreValid: the workflow passes actionlint, which knows its keys, expressions and types, and the other file is YAML without a key
// that stands twice.
func TestRecipeFilesAreValid(t *testing.T) {
	l, err := actionlint.NewLinter(io.Discard, &actionlint.LinterOptions{})
	must(t, err)
	lint := func(text []byte) []*actionlint.Error {
		errs, err := l.Lint("docs/ci/github-actions.yml", text, nil)
		must(t, err)
		return errs
	}
	text := recipeText(t, "github-actions.yml")
	for _, e := range lint(text) {
		t.Error(e)
	}
	if wrong := strings.Replace(string(text), "runs-on:", "run-on:", 1); len(lint([]byte(wrong))) == 0 {
		t.Error("a key that does not exist is not found")
	}
	var any map[string]yaml.Node
	must(t, yaml.Unmarshal(recipeText(t, "gitlab-ci.yml"), &any))
	for _, secret := range []string{"pull_request_target", "secrets.", "persist-credentials: true"} {
		if strings.Contains(string(text), secret) {
			t.Errorf("the workflow names %s: a stranger's change would run beside it", secret)
		}
	}
}

// pipeline is a project with a history, in which the commands of a recipe are run for a change.
type pipeline struct {
	scene
	t     *testing.T
	base  string // the commit that a change wants to join
	temp  string
	count int
}

// newPipeline makes a project whose tests pass, with one dependency from a folder of wheels, and the policy that learning them wrote.
func newPipeline(t *testing.T, who person) *pipeline {
	p := &pipeline{scene: newScene(t, who), t: t}
	p.temp = filepath.Join(p.dir, "home/temp")
	p.put(t, "home/.gitconfig", "[user]\nname = a\nemail = a@example.com\n[init]\ndefaultBranch = main\n[advice]\ndetachedHead = false\n")
	p.files(map[string]string{
		"app.py":            "import rates\n\ndef total():\n    return rates.rate('EUR') + len(open('data/base.csv').read())\n",
		"data/base.csv":     "a,b\n",
		"tests/test_app.py": "import app\n\ndef test_total():\n    assert app.total() == 6\n",
		".gitignore":        "__pycache__/\npsb.*\n",
		"pyproject.toml":    "[tool.pytest.ini_options]\npythonpath = ['.']\n",
		"requirements.txt":  p.wheel("1.0", "def rate(name):\n    return 2\n"),
	})
	p.git("init", "-q")
	p.git("remote", "add", "origin", p.project)
	p.install()
	p.want(0, psb(t), "--learn", "--python", p.home+"/venv/bin/python", "-m", "pytest", "-q", "-p", "no:cacheprovider")
	p.git("add", "-A")
	p.git("commit", "-qm", "base")
	p.base = strings.TrimSpace(p.git("rev-parse", "HEAD"))
	return p
}

func (p *pipeline) files(list map[string]string) {
	for name, text := range list {
		p.put(p.t, "home/code/project/"+name, text)
	}
	p.give(p.t)
}

// wheel makes the dependency in a version and gives the line that requires it.
func (p *pipeline) wheel(version, code string) string {
	p.t.Helper()
	name := "rates-" + version
	dir := name + ".dist-info/"
	parts := p.dir + "/home/parts/" + name
	for file, text := range map[string]string{
		"rates/__init__.py": code,
		dir + "METADATA":    "Metadata-Version: 2.1\nName: rates\nVersion: " + version + "\n",
		dir + "WHEEL":       "Wheel-Version: 1.0\nGenerator: a\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
		dir + "RECORD":      "rates/__init__.py,,\n" + dir + "METADATA,,\n" + dir + "WHEEL,,\n" + dir + "RECORD,,\n",
	} {
		p.put(p.t, "home/parts/"+name+"/"+file, text)
	}
	file := p.dir + "/home/wheels/" + name + "-py3-none-any.whl"
	must(p.t, os.MkdirAll(filepath.Dir(file), 0o755))
	cmd := exec.Command("/usr/bin/python3", "-m", "zipfile", "-c", file, "rates", strings.TrimSuffix(dir, "/"))
	cmd.Dir = parts
	if out, err := cmd.CombinedOutput(); err != nil {
		p.t.Fatalf("%v\n%s", err, out)
	}
	b, err := os.ReadFile(file)
	must(p.t, err)
	return fmt.Sprintf("rates==%s --hash=sha256:%x\n", version, sha256.Sum256(b))
}

func (p *pipeline) environment() []string {
	return []string{"PIP_NO_INDEX=1", "PIP_FIND_LINKS=" + p.dir + "/home/wheels", "PIP_NO_CACHE_DIR=1", "GIT_CONFIG_NOSYSTEM=1"}
}

func (p *pipeline) want(code int, argv ...string) result {
	p.t.Helper()
	r := p.run(p.t, call{argv: argv, env: p.environment(), timeout: 5 * time.Minute})
	if r.code != code {
		p.t.Fatalf("%v: %v, want %d", argv, r, code)
	}
	return r
}

func (p *pipeline) git(args ...string) string {
	p.t.Helper()
	return p.want(0, append([]string{"git"}, args...)...).out
}

// install is the recipe's step for dependencies; pytest comes from the system.
func (p *pipeline) install() {
	p.want(0, "/usr/bin/python3", "-I", "-m", "venv", "--system-site-packages", p.home+"/venv")
	p.want(0, p.home+"/venv/bin/pip", "install", "-q", "--disable-pip-version-check", "-r", "requirements.txt")
}

// change is a pull request: its files on a branch of their own.
func (p *pipeline) change(files map[string]string) {
	p.count++
	p.git("checkout", "-q", "-f", p.base)
	p.git("checkout", "-q", "-b", fmt.Sprint("change", p.count))
	p.files(files)
	p.git("add", "-A")
	p.git("commit", "-qm", "change")
}

// job runs one job's commands as they stand, each in a shell of its own as the service does, and stops at the first that fails.
func (p *pipeline) job(r recipe, name string) (status int, at string, said string) {
	p.t.Helper()
	must(p.t, os.RemoveAll(p.temp))
	must(p.t, os.RemoveAll(p.project+".base"))
	must(p.t, os.MkdirAll(p.temp, 0o755))
	p.give(p.t)
	p.git("worktree", "prune")
	p.git("reset", "-q", "--hard")
	for _, s := range r.jobs[name] {
		if notRun[s.name] != "" {
			continue
		}
		if strings.Contains(s.run, "psb policy diff") && !p.canDiff() {
			p.t.Log("this build has no psb policy diff: the job " + name + " is not tried")
			return -1, "", ""
		}
		// The tests need pytest, which comes from the system and not from the recipe's index.
		script := strings.ReplaceAll(s.run, "-I -m venv ", "-I -m venv --system-site-packages ")
		got := p.run(p.t, call{argv: []string{"bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script}, env: append(p.environment(), r.env(p)...), timeout: 5 * time.Minute})
		said += got.out + got.err
		if got.code != 0 {
			return got.code, s.name, said
		}
	}
	return 0, "", said
}

func (p *pipeline) canDiff() bool {
	return p.run(p.t, call{argv: []string{psb(p.t), "policy", "diff", p.project + "/.py-sandboxes", p.project + "/.py-sandboxes"}}).code == 0
}

// found are the results of the last run's SARIF: rule, place and the first line of the message.
func (p *pipeline) found() (list []string) {
	p.t.Helper()
	var b []byte
	for _, dir := range []string{p.temp, p.project} {
		if text, err := os.ReadFile(dir + "/psb.sarif"); err == nil {
			b = text
		}
	}
	var doc struct {
		Runs []struct {
			Results []struct {
				RuleID    string
				Message   struct{ Text string }
				Locations []struct {
					P struct {
						A struct{ URI string } `json:"artifactLocation"`
						R struct{ StartLine int }
					} `json:"physicalLocation"`
				}
			}
		}
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		p.t.Fatalf("%v: %s", err, b)
	}
	for _, x := range doc.Runs[0].Results {
		first, _, _ := strings.Cut(x.Message.Text, "\n")
		list = append(list, x.RuleID+" "+x.Locations[0].P.A.URI+" "+first)
	}
	return list
}

const newHost = `import socket
def rate(name):
    try:
        socket.create_connection(("telemetry.example.com", 443), timeout=5)
    except OSError:
        pass
    return 2
`

const grabs = `import os
try:
    open(os.path.expanduser("~/grabbed"), "w").close()
except OSError:
    pass
`

const newFile = `def rate(name):
    try:
        open("/etc/machine-id", "rb").close()
    except OSError:
        pass
    return 2
`

// TestRecipe runs the commands of docs/ci's pipeline files on a project with a history: what changes nothing passes; a dependency that reaches
// for a new host fails, and the report names it; rights that a change brings along do not count for it, and none of its code runs outside.
func TestRecipe(t *testing.T) {
	if controlOnly() {
		t.Skip("needs psb")
	}
	_, err := exec.LookPath("git")
	ledger.Need(t, "git", err)
	ledger.Need(t, "pytest", exec.Command("/usr/bin/python3", "-c", "import pytest").Run())
	ledger.Need(t, "ensurepip", exec.Command("/usr/bin/python3", "-c", "import ensurepip").Run())
	all := people()
	t.Run("github-actions.yml", func(t *testing.T) { // a hosted runner is an ordinary user
		t.Parallel()
		p, r := newPipeline(t, all[len(all)-1]), githubRecipe(t)
		p.harmless(r)
		p.newHost(r)
		p.grantsItself(r)
		p.newFile(r)
	})
	t.Run("gitlab-ci.yml", func(t *testing.T) { // a container's job is root
		t.Parallel()
		p, r := newPipeline(t, all[0]), gitlabRecipe(t)
		p.harmless(r)
		p.options(r)
		p.grantsItself(r)
	})
}

const toHost = "telemetry.example.com"

var toFileResult = "denied/read .py-sandboxes denied: read /etc/machine-id"

var toHostResult = "denied/connect app.py denied: connect " + toHost + ":443" // at the line that called the dependency

// harmless: another way to write the same, and modules of names that Python or pip might look for.
func (p *pipeline) harmless(r recipe) {
	p.t.Helper()
	p.change(map[string]string{"app.py": "import rates\n\n\ndef total():\n    return len(open('data/base.csv').read()) + rates.rate('EUR')\n",
		"venv.py": grabs, "pip.py": grabs, "ensurepip.py": grabs, "sitecustomize.py": grabs})
	if status, at, said := p.job(r, "confined"); status != 0 {
		p.t.Fatalf("a harmless change fails: %d at %s\n%s", status, at, said)
	}
	if list := p.found(); len(list) != 0 {
		p.t.Errorf("a harmless change has results: %v", list)
	}
	if _, err := os.Lstat(p.home + "/grabbed"); err == nil {
		p.t.Error("code of a change ran outside the box")
	}
	if status, at, said := p.job(r, "rights"); status > 0 {
		p.t.Errorf("a change that asks for nothing: %d at %s\n%s", status, at, said)
	}
	// Control: without -I the module is taken from the checkout.
	p.run(p.t, call{argv: []string{"/usr/bin/python3", "-m", "venv", p.temp + "/other"}})
	if err := os.Remove(p.home + "/grabbed"); err != nil {
		p.t.Error("control: the module of the checkout did not run")
	}
}

// newHost: an update of a dependency calls home and swallows the refusal; the tests pass and the run does not.
func (p *pipeline) newHost(r recipe) {
	p.t.Helper()
	p.change(map[string]string{"requirements.txt": p.wheel("1.1", newHost)})
	if status, at, said := p.job(r, "confined"); status != 123 || !slices.Equal(p.found(), []string{toHostResult}) || !strings.Contains(said, "1 passed") {
		p.t.Errorf("a dependency with a new host: %d at %s, %v\n%s", status, at, p.found(), said)
	}
}

// newFile: a dependency that opens a new file and swallows the error.
func (p *pipeline) newFile(r recipe) {
	p.t.Helper()
	p.change(map[string]string{"requirements.txt": p.wheel("1.2", newFile)})
	if status, at, said := p.job(r, "confined"); status != 123 || !slices.Equal(p.found(), []string{toFileResult}) || !strings.Contains(said, "1 passed") {
		p.t.Errorf("a dependency with a new file: %d at %s, %v\n%s", status, at, p.found(), said)
	}
}

// grantsItself: the rule that a change brings along does not count, and the job for rights tells it.
func (p *pipeline) grantsItself(r recipe) {
	p.t.Helper()
	policy := p.git("show", p.base+":.py-sandboxes")
	p.change(map[string]string{"requirements.txt": p.wheel("1.3", newHost), ".py-sandboxes": policy + "\n[net]\n\"" + toHost + ":443\" = \"connect\"\n"})
	if status, at, said := p.job(r, "confined"); status != 123 || !slices.Contains(p.found(), toHostResult) {
		p.t.Errorf("a change that grants itself a host: %d at %s, %v\n%s", status, at, p.found(), said)
	}
	// Control: with the rights it brings along it would have passed. What is not refused fails at the name, which no server knows.
	venv := map[string]string{"github-actions.yml": p.temp + "/venv", "gitlab-ci.yml": p.project + ".venv"}[r.file]
	p.git("reset", "-q", "--hard")
	p.want(0, psb(p.t), "--policy", ".py-sandboxes", "--python", venv+"/bin/python", "--fail-on-denial", "-m", "pytest", "-q", "-p", "no:cacheprovider")
	if status, _, said := p.job(r, "rights"); status >= 0 && (status != 1 || !strings.Contains(said, toHost+":443")) {
		p.t.Errorf("the rights it asks for are not told: %d\n%s", status, said)
	}
}

// options: a requirements file asks pip to build, that is to run, a dependency.
func (p *pipeline) options(r recipe) {
	p.t.Helper()
	p.change(map[string]string{"requirements.txt": "--no-binary :all:\n" + p.wheel("1.4", "")})
	if status, at, said := p.job(r, "confined"); status != 1 || !strings.Contains(said, "1:--no-binary :all:\nrequirements.txt: only lines") {
		p.t.Errorf("a change with options for pip: %d at %s\n%s", status, at, said)
	}
}
