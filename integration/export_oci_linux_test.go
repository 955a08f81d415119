package integration

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opencontainers/runtime-spec/specs-go"
)

// asRoot is the scene for a tool that only root runs.
func (s exported) asRoot(t *testing.T) exported {
	t.Helper()
	if os.Getuid() != 0 {
		ledger.Need(t, "root", os.ErrPermission)
	}
	s.who = person{"root", 0, 0}
	return s
}

// TestExportOCI: the exported folder is a bundle that runc runs as it is. Values of passed variables are the user's to write.
func TestExportOCI(t *testing.T) {
	besideOthers(t)
	eachExported(t, func(t *testing.T, s exported) {
		runc := tool(t, "runc")
		r := s.export(t, "oci", "-o", s.folder)
		s.noValues(t, r)
		for _, name := range []string{"PASSED", "SET_*", "CACHE"} {
			if !strings.Contains(r.err, "psb: not exported: [env] env "+name+" ") {
				t.Errorf("%s is left out without a word:\n%s", name, r.err)
			}
		}
		got := s.asRoot(t).start(t, runc, "--root", filepath.Join(s.dir, "runc"), "run", "--bundle", s.folder, "psb-"+s.word)
		judge(t, got, []string{"lists"}, nil)
	})
}

// TestExportOCIProfile: every field is one that the runtime specification knows, and the profile beside the configuration is its own.
func TestExportOCIProfile(t *testing.T) {
	if controlOnly() {
		t.Skip("needs psb")
	}
	s := newExported(t, people()[0], workshop)
	s.export(t, "oci", "-o", s.folder)
	var config specs.Spec
	var alone specs.LinuxSeccomp
	for name, into := range map[string]any{"config.json": &config, "seccomp.json": &alone} {
		f, err := os.Open(filepath.Join(s.folder, name))
		must(t, err)
		defer f.Close()
		strict := json.NewDecoder(f)
		strict.DisallowUnknownFields()
		if err := strict.Decode(into); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	a, _ := json.Marshal(config.Linux.Seccomp)
	b, _ := json.Marshal(alone)
	if string(a) != string(b) || !strings.Contains(string(a), `"defaultAction":"SCMP_ACT_ERRNO"`) {
		t.Errorf("the profile is not the configuration's:\n%s\n%s", a, b)
	}
}
