package integration

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestScore: the score measures, and what it measures of two small programs is what is asked of each. make score measures all.
func TestScore(t *testing.T) {
	besideOthers(t)
	_, err := exec.LookPath("strace")
	ledger.Need(t, "strace", err)
	root, err := moduleRoot()
	must(t, err)
	cmd := exec.Command("go", "run", "-tags", "netgo,osusergo", "./integration/score", "-psb", psb(t), "-only", "json_tool,sqlite", "-json", filepath.Join(t.TempDir(), "score.json"))
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	text := string(out)
	if err != nil || !strings.Contains(text, "\n2 programs, 0 short of what is asked\n") || !strings.HasSuffix(text, "\nverdict: yes\n") {
		t.Fatalf("%v\n%s", err, text)
	}
}
