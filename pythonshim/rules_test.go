package pythonshim

import (
	"os/exec"
	"strings"
	"testing"
)

func TestRulesAreReadByPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	r := Rules{
		Imports: map[string]bool{"flask": true, "ctypes": false},
		Calls:   map[string]bool{"threads": true},
		Eval:    map[string]Profile{"": {}, "calc": {Lists: map[string][]string{"syntax": {"arith", "!Pow"}}, Values: map[string]string{"timeout": "5s"}}},
		Program: "/opt/é",
	}
	cmd := exec.Command(python, "-I", "-c", "import marshal,sys; print(ascii(marshal.loads(sys.stdin.buffer.read())))")
	cmd.Stdin = strings.NewReader(string(r.Marshal()))
	out, err := cmd.CombinedOutput()
	want := `{'import': {'ctypes': False, 'flask': True}, 'call': {'threads': True}, 'program': '/opt/\xe9', ` +
		`'eval': {'': {}, 'calc': {'syntax': ['arith', '!Pow'], 'timeout': '5s'}}}` + "\n"
	if err != nil || string(out) != want {
		t.Errorf("%v: %s", err, out)
	}
}
