package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// compileAttacks makes one static program of all attacks in C, which takes the name of the attack as its first word: one call of the
// compiler instead of a hundred. Each file is included with its main renamed.
func compileAttacks() (string, error) {
	folder, err := filepath.Abs("testdata/attack")
	if err != nil {
		return "", err
	}
	var code, choice strings.Builder
	code.WriteString("#define _GNU_SOURCE\n#include \"attack.h\"\n")
	for i, a := range attacks() {
		if _, err := os.Stat(a.file("c")); err != nil {
			continue
		}
		fmt.Fprintf(&code, "#define main attack_%d\n#include %q\n#undef main\n", i, a.name+".c")
		fmt.Fprintf(&choice, "\tif (strcmp(argv[1], %q) == 0) return ((int (*)(int, char **))attack_%d)(argc - 1, argv + 1);\n", a.name, i)
	}
	fmt.Fprintf(&code, "int main(int argc, char **argv) {\n%s\tputs(\"no attack of that name\");\n\treturn 3;\n}\n", choice.String())
	target := filepath.Join(workshop, "bin", "attacks")
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return "", err
	}
	if err := os.WriteFile(target+".c", []byte(code.String()), 0o644); err != nil {
		return "", err
	}
	if out, err := exec.Command("cc", "-static", "-O1", "-w", "-I", folder, "-o", target, target+".c", "-lpthread").CombinedOutput(); err != nil {
		return "", fmt.Errorf("cc: %w\n%s", err, out)
	}
	return target, nil
}
