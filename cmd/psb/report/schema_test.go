package report

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// officialSchema is the SARIF 2.1.0 schema as OASIS publishes it, which go-sarif carries as a constant of its own.
func officialSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif").Output()
	if err != nil {
		t.Fatal(err)
	}
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(strings.TrimSpace(string(dir)), "schema.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	ast.Inspect(f, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING && len(l.Value) > len(text) {
			text = l.Value
		}
		return true
	})
	if text, err = strconv.Unquote(text); err != nil || !strings.Contains(text, sarifSchema) {
		t.Fatalf("the schema in go-sarif is not %s (%v)", sarifSchema, err)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("sarif.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("sarif.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func against(t *testing.T, s *jsonschema.Schema, text []byte) error {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("no JSON: %v\n%s", err, text)
	}
	return s.Validate(doc)
}

// TestSARIFFollowsTheSchema: every kind of report, hostile names in it, is valid by the official schema, formats of URIs included, and
// another reader of SARIF finds as many results. What is wrong is not valid: the schema is really asked.
func TestSARIFFollowsTheSchema(t *testing.T) {
	schema := officialSchema(t)
	for name, r := range samples() {
		b, err := SARIF(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := against(t, schema, b); err != nil {
			t.Errorf("%s: %v\n%s", name, err, b)
		}
		read, err := sarif.FromBytes(b)
		if err != nil {
			t.Fatal(err)
		}
		if found, _ := r.results(); len(read.Runs) != 1 || len(read.Runs[0].Results) != len(found) {
			t.Errorf("%s: a reader finds not the %d results", name, len(found))
		}
		for _, wrong := range [][2]string{{`"version": "2.1.0"`, `"version": "2.0.0"`}, {`"columnKind"`, `"columnKinds"`}} {
			if err := against(t, schema, bytes.Replace(b, []byte(wrong[0]), []byte(wrong[1]), 1)); err == nil {
				t.Errorf("%s: %s is taken for valid", name, wrong[1])
			}
		}
	}
}
