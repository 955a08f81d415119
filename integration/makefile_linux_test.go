package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestMakeNamesMissingPackages: an ordinary user who lacks a build package is told the line that gets it, and make ends with 1 before it
// runs anything.
func TestMakeNamesMissingPackages(t *testing.T) {
	besideOthers(t)
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("no make")
	}
	who := people()[len(people())-1] // never root: root gets the packages
	if who.uid == 0 {
		t.Skip("root only")
	}
	text, err := os.ReadFile("../Makefile")
	must(t, err)
	s := newScene(t, who)
	s.put(t, "home/code/project/Makefile", string(text))
	program := func(name, code string) string {
		must(t, os.Chmod(s.put(t, "home/"+name, "#!/bin/sh\n"+code+"\n"), 0o755))
		return filepath.Dir(filepath.Join(s.home, name))
	}
	program("lacking/apt-get", "echo apt-get ran; exit 9")
	lacking := program("lacking/dpkg-query", `case "$*" in *libseccomp-dev*) exit 1;; esac; echo install ok installed`)
	program("complete/apt-get", "echo apt-get ran; exit 9")
	complete := program("complete/dpkg-query", "echo install ok installed")
	s.give(t)
	run := func(packages string, words ...string) result {
		return s.run(t, call{argv: append([]string{"make", "GO=false"}, words...), env: []string{"PATH=" + packages + ":/usr/bin:/bin", "MAKEFLAGS="}})
	}
	const line = "psb needs build packages; run: sudo apt-get install -y libseccomp-dev\n"
	for _, words := range []string{"", "build", "try", "test", "programs", "bench", "install", "clean build", "-s try", "-k -j2 test"} {
		t.Run(words, func(t *testing.T) {
			if got := run(lacking, strings.Fields(words)...); got.code != 1 || got.err != line || got.out != "" {
				t.Errorf("want status 1 and the line, nothing else: %v", got)
			}
		})
	}
	// Control: with every package the same words go as far as the compiler, which here fails, and that is make's 2.
	for _, words := range []string{"", "try", "install"} {
		if got := run(complete, strings.Fields(words)...); got.code != 2 || strings.Contains(got.err, "apt-get") || !strings.Contains(got.out, "false build") {
			t.Errorf("control: make %s with every package: %v", words, got)
		}
	}
	if got := run(lacking, "clean"); got.code != 0 || got.err != "" {
		t.Errorf("clean builds nothing and needs no package: %v", got)
	}
}
