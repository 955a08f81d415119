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
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestMCPBundle: what is published holds the binary, executable, and names the tools that it offers; the registry's entry has its hash; the
// programs of the format's makers take it, and the server in it starts.
func TestMCPBundle(t *testing.T) {
	besideOthers(t)
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
			Config     struct {
				Command string
				Args    []string
			} `json:"mcp_config"`
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
	text, err = os.ReadFile(filepath.Join(s.dir, "server.json"))
	must(t, err)
	entry := registryEntry(t, text)
	if sum := sha256.Sum256(bundle); entry.Name != "io.github.somebody/psb" || entry.Version != "1.2.3" || entry.Packages[0].FileSha256 != hex.EncodeToString(sum[:]) {
		t.Errorf("%+v", entry)
	}
	t.Run("opened by the format's makers", func(t *testing.T) {
		node, modules := nodeTools(t)
		mcpb, opened := filepath.Join(modules, "@anthropic-ai/mcpb/dist/cli/cli.js"), filepath.Join(s.dir, "opened")
		s.node(t, node, time.Minute, mcpb, "unpack", name, opened)
		s.node(t, node, time.Minute, mcpb, "validate", filepath.Join(opened, "manifest.json"))
		config := manifest.Server.Config
		argv := append([]string{strings.ReplaceAll(config.Command, "${__dirname}", opened)}, config.Args...)
		s.agentOf(t, call{argv: argv}).python("40 + 2").want(t, "ok", "42")
	})
}

type registered struct {
	Schema                            string `json:"$schema"`
	Name, Title, Description, Version string
	Packages                          []struct {
		RegistryType, Identifier, FileSha256, Version string
		Transport                                     struct{ Type string }
	}
}

// registryEntry reads server.json and holds it to what the registry's schema of 2025-12-11 asks of an entry with one bundle.
func registryEntry(t *testing.T, text []byte) registered {
	t.Helper()
	var e registered
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	must(t, d.Decode(&e))
	if e.Schema != "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json" || len(e.Packages) != 1 {
		t.Fatalf("%+v", e)
	}
	p := e.Packages[0]
	for _, c := range []struct{ what, value, form string }{
		{"name", e.Name, `^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$`}, {"name", e.Name, `^.{3,200}$`}, {"title", e.Title, `^.{1,100}$`}, {"description", e.Description, `^.{1,100}$`},
		{"version", e.Version, `^\d+\.\d+\.\d+$`}, {"kind", p.RegistryType, `^mcpb$`}, {"where from", p.Identifier, `^https://github\.com/.*mcp.*` + regexp.QuoteMeta(e.Version) + `\.mcpb$`},
		{"hash", p.FileSha256, `^[a-f0-9]{64}$`}, {"transport", p.Transport.Type, `^stdio$`},
	} {
		if !regexp.MustCompile(c.form).MatchString(c.value) {
			t.Errorf("%s %q: not of the form %s", c.what, c.value, c.form)
		}
	}
	return e
}
