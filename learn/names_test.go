package learn

import (
	"testing"

	"psb/policy"
)

func TestPerRun(t *testing.T) {
	pids := map[int]bool{2: true, 48213: true}
	for _, tt := range []struct {
		name string
		want bool
	}{
		{"tmpab12cd34", true},
		{"tmp_x7q2w9.csv", true},
		{"tmp", false},
		{"template.html", false},
		{"temperature.csv", false},
		{"app-48213.pid", true},
		{"app-48214.pid", false},
		{"part2.csv", false},
		{"run-2026-11-29.log", true},
		{"20261129.log", true},
		{"1764456000", true},
		{"123e4567-e89b-12d3-a456-426614174000", true},
		{"9f86d081884c7d65", true},
		{"deadbeef", false},
		{"sha256.py", false},
		{"x86_64", false},
		{"fontlist-v330.json", false},
		{"m.cpython-311.pyc", false},
		{"facade12", true},
		{"summary.csv", false},
	} {
		if got := perRun(tt.name, pids); got != tt.want {
			t.Errorf("perRun(%q) = %v", tt.name, got)
		}
	}
}

func TestWritten(t *testing.T) {
	m := policy.Macros{Project: "/home/ann/app", Home: "/home/ann", Cache: "/home/ann/.cache", Tmp: "/tmp"}
	for _, tt := range []struct {
		folder, path string
		tree         bool
		want         string
	}{
		{"", "/home/ann/app/data/x.csv", false, "data/x.csv"},
		{"", "/home/ann/app", true, "./"},
		{"", "/home/ann/app/out", true, "out/"},
		{"", "/home/ann/app/~odd", false, "./~odd"},
		{"", "/home/ann/app/$x/${y}", false, "$x/$${y}"},
		{"", "/home/ann/appendix", false, "~/appendix"},
		{"", "/home/ann/.cache/a", true, "${cache}/a/"},
		{"", "/tmp/x", false, "${tmp}/x"},
		{"", "/etc/hosts", false, "/etc/hosts"},
		{"", "/", true, "/"},
		{"/home/ann/app/conf", "/home/ann/app/data", true, "${project}/data/"},
		{"/home/ann/app/conf", "/home/ann/app/conf/a", false, "a"},
	} {
		k := Knowledge{Macros: m, Folder: tt.folder}
		if got := k.written(tt.path, tt.tree); got != tt.want {
			t.Errorf("written(%q) from %q = %q, want %q", tt.path, tt.folder, got, tt.want)
		}
	}
}

func TestRoot(t *testing.T) {
	k := Knowledge{Macros: policy.Macros{Project: "/home/ann/app", Home: "/home/ann", Cache: "/home/ann/.cache", Tmp: "/tmp"}}
	for dir, want := range map[string]bool{
		"/": true, "/etc": true, "/etc/x": true, "/usr/share": true, "/home": true, "/home/ann": true, "/home/ann/.cache": true, "/tmp": true,
		"/home/ann/app": false, "/home/ann/app/x": false, "/home/ann/.cache/x": false, "/home/ann/data": false, "/usr/share/fonts": false,
		"/srv/a/b": false, "/home/ann/.local": true,
	} {
		if got := k.root(dir); got != want {
			t.Errorf("root(%q) = %v", dir, got)
		}
	}
	// A home folder that is the project itself stays a home folder.
	k = Knowledge{Macros: policy.Macros{Project: "/home/ann", Home: "/home/ann"}}
	if !k.root("/home/ann") {
		t.Error("the home folder may be opened when it is the project")
	}
}
