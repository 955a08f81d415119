package integration

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// TestMCPBundle: what is published holds the binary, executable, and names the tools that it offers; the registry's entry has its hash.
func TestMCPBundle(t *testing.T) {
	root, err := moduleRoot()
	must(t, err)
	s := newScene(t, people()[0])
	out, err := exec.Command("sh", filepath.Join(root, "docs/mcp/pack.sh"), psb(t), "1.2.3", "somebody", s.dir).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	name := filepath.Join(s.dir, "psb-mcp-1.2.3.mcpb")
	bundle, err := os.ReadFile(name)
	must(t, err)
	z, err := zip.NewReader(bytes.NewReader(bundle), int64(len(bundle)))
	must(t, err)
	read := func(name string) ([]byte, os.FileMode) {
		f, err := z.Open(name)
		must(t, err)
		defer f.Close()
		fi, err := f.Stat()
		must(t, err)
		b, err := io.ReadAll(f)
		must(t, err)
		return b, fi.Mode()
	}
	binary, mode := read("server/psb")
	own, err := os.ReadFile(psb(t))
	must(t, err)
	if mode.Perm()&0o111 == 0 || !bytes.Equal(binary, own) {
		t.Errorf("mode %v, %d bytes of %d", mode, len(binary), len(own))
	}
	var manifest struct {
		Version string
		Tools   []struct{ Name string }
		Server  struct {
			EntryPoint string `json:"entry_point"`
		}
	}
	text, _ := read("manifest.json")
	must(t, json.Unmarshal(text, &manifest))
	var names []string
	for _, x := range manifest.Tools {
		names = append(names, x.Name)
	}
	var offered []string
	var list struct{ Tools []struct{ Name string } }
	must(t, json.Unmarshal(s.agent(t).ask("tools/list", map[string]any{}).Result, &list))
	for _, x := range list.Tools {
		offered = append(offered, x.Name)
	}
	slices.Sort(names)
	if manifest.Version != "1.2.3" || manifest.Server.EntryPoint != "server/psb" || !slices.Equal(names, offered) {
		t.Errorf("%+v; offered %v", manifest, offered)
	}
	var entry struct {
		Name     string
		Packages []struct{ Identifier, FileSha256 string }
	}
	text, err = os.ReadFile(filepath.Join(s.dir, "server.json"))
	must(t, err)
	must(t, json.Unmarshal(text, &entry))
	if sum := sha256.Sum256(bundle); entry.Name != "io.github.somebody/psb" || len(entry.Packages) != 1 || entry.Packages[0].FileSha256 != hex.EncodeToString(sum[:]) {
		t.Errorf("%+v", entry)
	}
}
