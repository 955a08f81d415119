package integration

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// audited is a scene for a program that is audited, with the system's Python.
func audited(t *testing.T, who person) scene {
	t.Helper()
	s := newScene(t, who)
	_, err := s.choose(t, "system", nil)
	ledger.Need(t, "python3", err)
	return s
}

// whole is everything about every object below folders.
func whole(t *testing.T, folders ...string) func(result) string {
	t.Helper()
	var paths []string
	for _, dir := range folders {
		must(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			paths = append(paths, path)
			return err
		}))
	}
	return unchanged(t, paths...)
}

// everything makes a scene for testdata/audit/everything.py ready.
func everything(t *testing.T, who person) (s scene, env []string, visited func() int) {
	t.Helper()
	_, err := exec.LookPath("git")
	ledger.Need(t, "git", err)
	s = audited(t, who)
	code, err := os.ReadFile("testdata/audit/everything.py")
	must(t, err)
	s.put(t, "home/code/project/everything.py", string(code))
	for _, name := range []string{"data", "old", "here", "replaced", "mode", "opened"} {
		s.put(t, "home/code/project/"+name+".txt", name+"\n")
	}
	s.put(t, "home/code/project/again/kept", "kept\n")
	s.put(t, "home/.ssh/id_rsa", "# "+s.token+"\n")
	s.put(t, "home/.bashrc", "# mine\n")
	s.give(t)
	if r := s.run(t, call{argv: []string{"git", "init", "-q"}}); r.code != 0 {
		t.Fatal(r)
	}
	door := listen(t, "tcp", "127.0.0.1:0")
	left := "/var/tmp/" + s.word
	t.Cleanup(func() { os.Remove(left) })
	return s, []string{"WORD=" + s.word, "PORT=" + port(door.Addr())}, func() int { return visitors(t, door) }
}

const seenInside = `['data', 'more'] here
 other
 deep
 ['new'] False False 600
[(1,)]
`

// TestAudit: an audited program sees its own changes, all of them are told, and none is there afterwards.
func TestAudit(t *testing.T) {
	for _, who := range people() {
		t.Run(who.name, func(t *testing.T) {
			t.Parallel()
			t.Run("control", func(t *testing.T) {
				s, env, visited := everything(t, who)
				same := whole(t, s.home)
				r := s.run(t, call{argv: []string{systemPython, "everything.py"}, env: env})
				if r.code != 3 || same(r) == "" || visited() == 0 || !strings.Contains(r.out, s.token) || !strings.HasPrefix(r.out, seenInside) {
					t.Fatalf("without psb it does not do what it is to be held from: %v", r)
				}
			})
			if controlOnly() {
				return
			}
			s, env, visited := everything(t, who)
			must(t, os.RemoveAll(s.home+"/.local")) // this is a first start
			same := whole(t, s.home)
			gone := absent(t, "/var/tmp/"+s.word, s.home+"/.cache", s.home+"/.config", s.home+"/.local")
			r := s.run(t, call{argv: []string{psb(t), "--python", systemPython, "--audit", "everything.py"}, env: env})
			if got := both(same, gone)(r); got != "" {
				t.Errorf("the host was changed: %s", got)
			}
			if n := visited(); n > 0 {
				t.Errorf("the host was reached %d times", n)
			}
			if r.code != 3 || !strings.HasPrefix(r.out, seenInside) || !strings.HasSuffix(r.out, "change\nkey: Permission denied\nconnect: Connection refused\n") || strings.Contains(r.out, s.token) {
				t.Errorf("the program did not see what it is to see: %v", r)
			}
			tells(t, r, "psb: audit of everything.py, which ended with status 3: nothing on this host was changed or reached; it would",
				`psb: ! create .git/hooks/pre-commit \(10 bytes\)  # protected: other programs run or obey it`,
				`psb: ! create .py-sandboxes \(12 bytes\)  # protected: other programs run or obey it`,
				`psb: ! change \S*/.bashrc \(7 bytes, then 12 bytes\)  # protected: other programs run or obey it`,
				`psb: ! create \S*sibling/planted.txt \(8 bytes\)  # outside the project`,
				`psb: ! run /usr/bin/git  # runs a program; everything`,
				`psb: ! connect to 127.0.0.1:`+strings.TrimPrefix(env[1], "PORT=")+`  # a server of this machine; python`,
				`psb: ! never granted: read \S*/.ssh/id_rsa \(EACCES\)`,
				`psb:   create \$\{cache\}/thing/kept \(7 bytes\)`, `psb: ! create /var/tmp/`+s.word+` \(5 bytes\)  # outside the project`,
				`psb:   replace again/`, `psb:   delete again/kept`, `psb:   create again/new \(4 bytes\)`, `psb:   change data.txt \(5 bytes, then 10 bytes\)`, `psb:   create fresh.txt \(6 bytes\)`,
				`psb:   create link \(a link to /etc/passwd\)`, `psb:   create \d+ objects below made/ \(65 bytes\)`, `psb:   chmod mode.txt \(0644, then 0600\)`,
				`psb:   delete old.txt`, `psb:   change replaced.txt \(9 bytes, then 6 bytes\)`, `psb:   rename here.txt to there.txt`, `psb:   create store.db \(8192 bytes\)`)
			if strings.Contains(r.err, "opened.txt (") || strings.Contains(r.err, "planted:") {
				t.Errorf("what was not changed is told as changed: %v", r)
			}
			if mark := regexp.MustCompile(`(?m)^psb:   (create|change|list)`).FindStringIndex(r.err); strings.LastIndex(r.err, "psb: ! ") > mark[0] {
				t.Errorf("a marked line comes after one that is not: %v", r)
			}
		})
	}
}

// tells wants each line, a pattern, to be one of psb's.
func tells(t *testing.T, r result, lines ...string) {
	t.Helper()
	for _, l := range lines {
		if !regexp.MustCompile(`(?m)^` + l + `$`).MatchString(r.err) {
			t.Errorf("not told: %s\n%s", l, r.err)
		}
	}
}

// TestAuditReport: --report has all of it in fields.
func TestAuditReport(t *testing.T) {
	for _, who := range people() {
		t.Run(who.name, func(t *testing.T) {
			t.Parallel()
			if controlOnly() {
				t.Skip("needs psb")
			}
			s, env, _ := everything(t, who)
			r := s.run(t, call{argv: []string{psb(t), "--python", systemPython, "--audit", "--report", "report.json", "everything.py"}, env: env})
			b, err := os.ReadFile(filepath.Join(s.project, "report.json"))
			must(t, err)
			var got struct {
				Mode   string
				Status int
				Audit  struct {
					Changes []struct{ How, Kind, Path, From, Risk string }
					Wanted  []struct{ Op, Object, Risk string } `json:"accesses"`
					Policy  string
				}
			}
			must(t, json.Unmarshal(b, &got))
			if got.Mode != "audit" || got.Status != 3 || len(got.Audit.Changes) < 80 || !strings.Contains(got.Audit.Policy, `"data.txt" = "write"`) {
				t.Errorf("the report is %s\n%v", b, r)
			}
			for _, want := range [][4]string{{"create", "file", s.project + "/made/59", ""}, {"rename", "file", s.project + "/there.txt", s.project + "/here.txt"},
				{"create", "link", s.project + "/link", ""}, {"delete", "file", s.project + "/old.txt", ""}} {
				if !slices.ContainsFunc(got.Audit.Changes, func(c struct{ How, Kind, Path, From, Risk string }) bool {
					return [4]string{c.How, c.Kind, c.Path, c.From} == want
				}) {
					t.Errorf("the report lacks %q", want)
				}
			}
		})
	}
}

// TestAuditAsksNobody: a name that is looked up is answered, and no name server hears of it; nothing outside hears anything.
func TestAuditAsksNobody(t *testing.T) {
	const program = `import socket
print(socket.getaddrinfo("leak.web.test", 443, socket.AF_INET, socket.SOCK_STREAM)[0][4][1], flush=True)
for kind, address in ((socket.SOCK_STREAM, ("web.test", 80)), (socket.SOCK_DGRAM, ("web.test", 53)), (socket.SOCK_DGRAM, ("203.0.113.5", 53))):
    s = socket.socket(socket.AF_INET, kind)
    try:
        s.connect(address)
        s.send(b"x")
        print("gone", flush=True)
    except OSError as e:
        print(e.strerror, flush=True)
server = socket.create_server(("0.0.0.0", 8080))
print(socket.create_connection(("127.0.0.1", 8080)).getpeername()[1], flush=True)
`
	outside(t, func(t *testing.T, w *world) {
		w.names.set("web.test", fixed("203.0.113.5"))
		w.names.set("leak.web.test", fixed("203.0.113.5"))
		door := listen(t, "tcp", "203.0.113.5:80")
		for _, who := range people() {
			t.Run(who.name, func(t *testing.T) {
				s := audited(t, who)
				s.put(t, "home/code/project/asks.py", program)
				s.give(t)
				w.names.forget()
				if r := s.run(t, call{argv: []string{systemPython, "asks.py"}}); len(w.names.asked()) == 0 || visitors(t, door) == 0 {
					t.Fatalf("without psb nobody is asked, so it proves nothing: %v", r)
				}
				if controlOnly() {
					return
				}
				w.names.forget()
				r := s.run(t, call{argv: []string{psb(t), "--python", systemPython, "--audit", "asks.py"}})
				if asked := w.names.asked(); len(asked) > 0 {
					t.Errorf("the name server was asked: %v", asked)
				}
				if n := visitors(t, door); n > 0 {
					t.Errorf("the server was visited %d times", n)
				}
				if r.code != 0 || r.out != "443\nPermission denied\ngone\nPermission denied\n8080\n" {
					t.Errorf("the program saw %v", r)
				}
				tells(t, r, `psb: ! connect to web.test:80  # reaches another machine; python`, `psb: ! look up leak.web.test`, `psb: ! connect to udp://web.test:53  # reaches another machine; python`,
					`psb: ! connect to udp://203.0.113.5:53  # reaches another machine; python`)
			})
		}
	})
}

// TestAuditMounts: each mount has an overlay of its own; one that is read-only stays it; one that cannot be a layer is named.
func TestAuditMounts(t *testing.T) {
	besideOthers(t)
	if os.Getuid() != 0 || controlOnly() {
		t.Skip("mounts as root, and needs psb")
	}
	const program = `import sys
for path in sys.argv[1:]:
    try:
        open(path, "a").write("z")
        print(path, open(path).read(), flush=True)
    except OSError as e:
        print(path, e.strerror, flush=True)
`
	const mounts = `set -e
mount -t tmpfs -o mode=777 t within
mkdir within/deep; chown --reference=. within/deep
mount -t tmpfs t reading
echo there >reading/f; chmod 666 reading/f
mount -o remount,ro reading
mount -t tmpfs t layers
cd layers; mkdir l u w u2 w2 m; mount -t overlay o -o lowerdir=l,upperdir=u,workdir=w m; mount -t overlay o -o lowerdir=m,upperdir=u2,workdir=w2 ../layered; cd ..
chmod 777 layered
status=0
"$@" || status=$?
ls within layered reading
exit $status
`
	for _, who := range people() {
		t.Run(who.name, func(t *testing.T) {
			s := audited(t, who)
			s.put(t, "home/code/project/writes.py", program)
			for _, name := range []string{"within", "reading", "layers", "layered", "beside"} {
				must(t, os.MkdirAll(filepath.Join(s.project, name), 0o755))
			}
			s.give(t)
			argv := []string{"unshare", "-m", "sh", "-c", mounts, "sh"}
			if who.uid != 0 {
				argv = append(argv, "setpriv", "--reuid", "54321", "--regid", "54321", "--clear-groups")
			}
			argv = append(argv, psb(t), "--python", systemPython, "--audit", "writes.py", "within/a", "within/deep/b", "reading/f", "layered/c", "beside/d", "e")
			mounting := s
			mounting.who = person{"root", 0, 0}
			r := mounting.run(t, call{argv: argv})
			inner := "e z\n"
			if who.uid != 0 { // the kernel locks mounts to the folder they stand in
				inner = "e Read-only file system\n"
				tells(t, r, `psb: not writable here: "`+s.project+`" is read-only: it holds other mounts`)
			} else {
				tells(t, r, `psb:   create e \(1 byte\)`)
			}
			if want := "within/a z\nwithin/deep/b z\nreading/f Read-only file system\nlayered/c Read-only file system\nbeside/d z\n" + inner + "layered:\n\nreading:\nf\n\nwithin:\ndeep\n"; r.code != 0 || r.out != want {
				t.Errorf("the program saw %v\nwant\n%s", r, want)
			}
			tells(t, r, `psb:   create within/a \(1 byte\)`, `psb:   create within/deep/b \(1 byte\)`, `psb:   create beside/d \(1 byte\)`, `psb: not writable here: "`+s.project+`/layered" is read-only: .*`)
			if strings.Contains(r.err, `/reading" is read-only`) {
				t.Errorf("what is read-only anyway is told as if psb made it so: %v", r)
			}
		})
	}
}

// TestAuditPage runs each example of docs/audit.md: what stands below a command is exactly what it prints.
func TestAuditPage(t *testing.T) {
	besideOthers(t)
	if controlOnly() {
		t.Skip("needs psb")
	}
	s := audited(t, people()[len(people())-1]) // the ordinary user, whose home is the scene's
	text := page(t, "audit.md")
	block := regexp.MustCompile("(?s)```(\\w+)\n(.*?)```")
	for _, b := range block.FindAllStringSubmatch(text, -1) {
		if b[1] == "python" {
			s.put(t, "home/code/project/cleanup.py", b[2])
		}
	}
	for _, n := range []string{"1", "2"} {
		s.put(t, "home/code/project/logs/"+n+".log", "x\n")
	}
	s.put(t, "home/code/project/summary.old", "old\n")
	s.put(t, "home/.bashrc", "# mine\n")
	s.give(t)
	examples := 0
	for _, b := range block.FindAllStringSubmatch(text, -1) {
		if b[1] != "console" {
			continue
		}
		for _, e := range strings.Split("\n"+b[2], "\n$ ")[1:] {
			command, want, _ := strings.Cut(e, "\n")
			r := s.run(t, call{argv: []string{"sh", "-c", "(" + command + ") 2>&1"}, env: []string{"PATH=" + filepath.Dir(psb(t)) + ":/usr/bin:/bin"}})
			examples++
			if strings.TrimRight(r.out, "\n") != strings.TrimRight(want, "\n") {
				t.Errorf("$ %s\nprints\n%s\nthe page says\n%s", command, r.out, want)
			}
		}
	}
	if examples != 6 {
		t.Errorf("%d examples, want 6", examples)
	}
}

// TestAuditAsked: where there is no policy yet, "a" at the question audits, and nothing is written.
func TestAuditAsked(t *testing.T) {
	besideOthers(t)
	each(t, func(t *testing.T, s scene) {
		must(t, os.Remove(filepath.Join(s.project, ".py-sandboxes")))
		s.put(t, "home/code/project/asked.py", "open('new.txt', 'w').write('x')\nprint('ran', flush=True)\nraise SystemExit(6)\n")
		s.give(t)
		k := s.console(t, call{argv: []string{psb(t), "--python", systemPython, "asked.py"}})
		k.expect("Enter learns, a audits")
		k.send("a\n")
		k.expect("ran\r\n")
		k.expect("psb: audit of asked.py, which ended with status 6")
		k.expect("create new.txt (1 byte)")
		k.ends("6")
		for _, name := range []string{"new.txt", ".py-sandboxes"} {
			if _, err := os.Lstat(filepath.Join(s.project, name)); err == nil {
				t.Errorf("%s was written", name)
			}
		}
	})
}

// TestAuditInstalls: a virtual environment in the project, and a wheel installed into it, work for the audited program and are not there later.
func TestAuditInstalls(t *testing.T) {
	if controlOnly() {
		t.Skip("needs psb")
	}
	const program = `import os, subprocess, sys, zipfile
with zipfile.ZipFile("thing-1-py3-none-any.whl", "w") as z:
    z.writestr("thing.py", "def say(): return 'installed'\n")
    z.writestr("thing-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: thing\nVersion: 1\n")
    z.writestr("thing-1.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    z.writestr("thing-1.dist-info/RECORD", "")
subprocess.run([sys.executable, "-m", "venv", "env"], check=True)
subprocess.run(["env/bin/python", "-m", "pip", "install", "-q", "--no-index", "--disable-pip-version-check", "./thing-1-py3-none-any.whl"], check=True)
print(subprocess.run(["env/bin/python", "-c", "import thing; print(thing.say())"], check=True, capture_output=True, text=True).stdout, end="")
`
	for _, who := range people() {
		t.Run(who.name, func(t *testing.T) {
			t.Parallel()
			s := audited(t, who)
			_, err := exec.Command(systemPython, "-c", "import ensurepip, venv").Output()
			ledger.Need(t, "ensurepip", err)
			s.put(t, "home/code/project/installs.py", program)
			s.give(t)
			same := whole(t, s.home)
			r := s.run(t, call{argv: []string{psb(t), "--python", systemPython, "--audit", "installs.py"}})
			if r.code != 0 || !strings.HasSuffix(r.out, "installed\n") {
				t.Fatal(r)
			}
			tells(t, r, `psb: . create \d+ objects below env/.*`)
			if got := same(r); got != "" {
				t.Errorf("the host was changed: %s", got)
			}
		})
	}
}
