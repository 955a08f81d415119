package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestInstallNeedsNoGo: who may install need not be who could build.
func TestInstallNeedsNoGo(t *testing.T) {
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("no make")
	}
	dir := t.TempDir()
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"Makefile": string(makefile), "bin/psb": "built", "docs/man/psb.1": "manual"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Command("make", "-C", dir, "install", "GO=no-such-go", "PACKAGES=no-such-package", "DESTDIR="+dir+"/stage", "PREFIX=/usr").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"psb", "python-sb", "python3-sb", "ipython-sb"} {
		if b, err := os.ReadFile(dir + "/stage/usr/bin/" + name); err != nil || string(b) != "built" {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
}
