package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPolicyDocs runs the examples of docs/policy.md on the upkeep of policies as a reader would: a block with a name is a file, a console
// block is typed line by line, and what it shows is what comes.
func TestPolicyDocs(t *testing.T) {
	besideOthers(t)
	if controlOnly() {
		t.Skip("needs psb")
	}
	doc, err := os.ReadFile(filepath.Join("..", "docs", "policy.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := strings.Cut(string(doc), "\n## Upkeep\n")
	text, _, _ = strings.Cut(text, "\n## ")
	dir := t.TempDir()
	ran := 0
	for ok {
		var head, block string
		if _, text, ok = strings.Cut(text, "\n```"); !ok {
			break
		}
		head, text, _ = strings.Cut(text, "\n")
		block, text, ok = strings.Cut(text, "```")
		kind, name, _ := strings.Cut(strings.TrimSpace(head), " ")
		switch {
		case name != "":
			if err := os.WriteFile(filepath.Join(dir, name), []byte(block), 0o644); err != nil {
				t.Fatal(err)
			}
		case kind == "console":
			for _, example := range strings.Split("\n"+block, "\n$ ")[1:] {
				ran++
				typed, shown, _ := strings.Cut(example, "\n")
				cmd := exec.Command("sh", "-c", typed)
				cmd.Dir = dir
				cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(psb(t))+":/usr/local/bin:/usr/bin:/bin", "HOME="+dir, "XDG_CONFIG_HOME="+dir+"/.config")
				out, _ := cmd.CombinedOutput()
				if got := strings.TrimSuffix(string(out), "\n"); got != strings.TrimSuffix(shown, "\n") {
					t.Errorf("$ %s\n%s\nbut the page shows\n%s", typed, got, shown)
				}
			}
		}
	}
	if ran < 7 {
		t.Errorf("%d examples", ran)
	}
}
