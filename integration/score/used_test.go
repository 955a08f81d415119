package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func noneUsed() used {
	return used{map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}}
}

// What strace prints of calls that went well counts, by the kernel's names; what failed, and names alone, do not.
func TestUsed(t *testing.T) {
	u := noneUsed()
	for _, line := range []string{
		`openat(AT_FDCWD</no/project>, "in.csv", O_RDONLY|O_CLOEXEC) = 3</no/project/in.csv>`,
		`openat(AT_FDCWD</no/project>, "absent", O_RDONLY) = -1 ENOENT (No such file or directory)`,
		`openat(AT_FDCWD</no/project>, ".", O_RDONLY|O_NONBLOCK|O_CLOEXEC|O_DIRECTORY) = 3</no/project>`,
		`openat(AT_FDCWD</no/project>, "out/o.csv", O_WRONLY|O_CREAT|O_TRUNC, 0666) = 3</no/project/out/o.csv>`,
		`openat(AT_FDCWD</no/project>, "look", O_RDONLY|O_PATH) = 3</no/project/look>`,
		`mkdir("made", 0777) = 0`,
		`renameat2(AT_FDCWD</no/project>, "a", 5</no/other>, "b", 0) = 0`,
		`connect(3<TCP:[1]>, {sa_family=AF_INET, sin_port=htons(6379), sin_addr=inet_addr("127.0.0.1")}, 16) = -1 EINPROGRESS (Operation now in progress)`,
		`connect(3<UNIX:[1]>, {sa_family=AF_UNIX, sun_path="/no/sock"}, 110) = -1 ENOENT (No such file or directory)`,
		`bind(3<TCPv6:[1]>, {sa_family=AF_INET6, sin6_port=htons(80), sin6_flowinfo=htonl(0), inet_pton(AF_INET6, "::1", &sin6_addr), sin6_scope_id=0}, 28) = 0`,
		`+++ exited with 0 +++`,
	} {
		u.call(line, "/no/project")
	}
	for _, c := range []struct {
		what string
		got  map[string]bool
		want string
	}{
		{"read", u.read, "/no/project/in.csv"},
		{"listed", u.listed, "/no/project"},
		{"written", u.written, "/no/other/b /no/project/a /no/project/made /no/project/out/o.csv"},
		{"changed", u.changed, "/no/other /no/project /no/project/out"},
		{"reached", u.reached, "127.0.0.1:6379"},
		{"served", u.served, "[::1]:80"},
	} {
		if got := strings.Join(slices.Sorted(maps.Keys(c.got)), " "); got != c.want {
			t.Errorf("%s: got %q, want %q", c.what, got, c.want)
		}
	}
}

// A script is run by the program its first line names.
func TestScriptsRunTheirInterpreter(t *testing.T) {
	script := filepath.Join(t.TempDir(), "tool")
	if err := os.WriteFile(script, []byte("#! /no/such/shell -e\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	u := noneUsed()
	u.execed(script)
	if !u.ran[script] || !u.ran["/no/such/shell"] {
		t.Errorf("ran %v", u.ran)
	}
}

// A policy's rules are counted as the objects on the disk that they mean.
func TestExpand(t *testing.T) {
	home := t.TempDir()
	s := scene{home: home, project: filepath.Join(home, "p")}
	for _, name := range []string{"p/data/a", "p/data/deep/b", "p/one", ".cache/x/y"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(home, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	g, err := s.expand("version = 1\n[files]\n\"data/\" = \"read\"\n\"./\" = [\"create\", \"list\"]\n\"one\" = \"write\"\n\"${cache}/x/\" = \"write\"\n[net]\n\"a.example:443\" = \"connect\"\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what string
		got  map[string]bool
		want string
	}{
		{"read", g.files, "p/data/a p/data/deep/b"},
		{"listed", g.listed, "p"},
		{"creates", g.creates, "p"},
		{"written", g.written, ".cache/x .cache/x/y p/one"},
	} {
		var got []string
		for p := range c.got {
			rel, _ := filepath.Rel(home, p)
			got = append(got, rel)
		}
		if slices.Sort(got); strings.Join(got, " ") != c.want {
			t.Errorf("%s: got %q, want %q", c.what, got, c.want)
		}
	}
	if !g.reached["a.example:443"] {
		t.Errorf("reached %v", g.reached)
	}
	if _, err := s.expand("[files]\n\"${unheard}/x\" = \"read\"\n"); err == nil {
		t.Error("a word the score does not know counts as nothing")
	}
}

// The verdict is no where one figure is beyond what is asked, and yes where none is.
func TestVerdict(t *testing.T) {
	good := score{Program: "p", Replay: replays, Variation: []trial{{"other", true}}, Stable: true, Idempotent: true, Lines: 9, Recovered: true, Reads: share{5, 5}, Policy: "x"}
	for _, c := range []struct {
		what   string
		change func(*score)
		want   bool
	}{
		{"nothing", func(*score) {}, true},
		{"replay", func(s *score) { s.Replay = 4 }, false},
		{"variation", func(s *score) { s.Variation = []trial{{"other", false}} }, false},
		{"stable", func(s *score) { s.Stable = false }, false},
		{"idempotent", func(s *score) { s.Idempotent = false }, false},
		{"excess", func(s *score) { s.Excess = 1 }, false},
		{"lines", func(s *score) { s.Lines = 31 }, false},
		{"reasons", func(s *score) { s.Unexplained = 1 }, false},
		{"recovery", func(s *score) { s.Recovered = false }, false},
		{"reads", func(s *score) { s.Reads = share{51, 10} }, false},
		{"writes", func(s *score) { s.Writes = share{3, 2} }, false},
		{"hosts", func(s *score) { s.Hosts = share{2, 1} }, false},
	} {
		s := good
		c.change(&s)
		// Three of them: two may fall short.
		if got := verdict(&strings.Builder{}, []score{s, s, s}, true); got != c.want {
			t.Errorf("%s: verdict %v", c.what, got)
		}
	}
	if verdict(&strings.Builder{}, []score{good}, false) {
		t.Error("the whole corpus may not be one program")
	}
}
