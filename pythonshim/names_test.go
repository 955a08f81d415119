package pythonshim

import (
	"bytes"
	"os/exec"
	"testing"
)

// TestShimLooksNothingUp: no function of the shim reads a global name, where the program could have put something of its own, and no file
// of the shim takes a name that another one has.
func TestShimLooksNothingUp(t *testing.T) {
	look := `import ast, dis, sys
text = sys.stdin.read()
def walk(code, names):
    for i in dis.get_instructions(code):
        if i.opname == "LOAD_GLOBAL": print("looks up", i.argval, "in", names)
    for c in code.co_consts:
        if type(c) is type(code): walk(c, names + "." + c.co_name)
shim = [c for c in compile(text, "overlay", "exec").co_consts if type(c) is type(walk.__code__)][0]
walk(shim, "")
seen = {}
for node in [n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef)][0].body:
    names = [node.name] if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else [n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    for n in names:
        if n in seen and (isinstance(node, (ast.FunctionDef, ast.ClassDef)) or seen.get(n) == "def"): print("taken twice:", n)
        seen[n] = "def" if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else "value"
print("looked")
`
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	for _, mode := range []Mode{Learn, Enforce} {
		cmd := exec.Command(python, "-I", "-c", look)
		cmd.Stdin = bytes.NewReader(Overlay(nil, mode))
		out, err := cmd.CombinedOutput()
		if err != nil || string(out) != "looked\n" {
			t.Errorf("%v: %v\n%s", mode, err, out)
		}
	}
}
