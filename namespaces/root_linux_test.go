package namespaces

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func with(s *Spec, ops ...Op) *Spec {
	s.Ops = append(s.Ops, ops...)
	return s
}

func TestOps(t *testing.T) {
	needBox(t)
	dir := hostDir(t)
	write(t, dir+"/file", "from the host\n", 0o644)
	for _, row := range []struct {
		name   string
		ops    []Op
		script string
		output string
	}{
		{"dir", []Op{{Kind: OpDir, Target: "/made/deep", Mode: 0o750}, {Kind: OpDir, Target: "/", Mode: 0o700}}, "stat -c %a /made /made/deep /", "755\n750\n755\n"},
		{"dir that is there", []Op{{Kind: OpDir, Target: "/tmp", Mode: 0o700}}, "stat -c %a /tmp", "1777\n"},
		{"file", []Op{{Kind: OpFile, Target: "/a/b", Mode: 0o444, Data: []byte("text\x00end\n")}}, "od -An -c /a/b; stat -c %a /a/b", "   t   e   x   t  \\0   e   n   d  \\n\n444\n"},
		{"symlink", []Op{{Kind: OpSymlink, Source: "../no/where", Target: "/a/link"}}, "readlink /a/link", "../no/where\n"},
		{"tmpfs", []Op{{Kind: OpTmpfs, Target: "/t", Mode: 0o1777, Size: 8192, NoExec: true}}, "stat -c %a /t; df --output=size /t | tail -1 | tr -d ' '; head -c 20000 /usr/bin/sh >/t/x || echo full", "1777\n8\nfull\n"},
		{"tmpfs of empty files", []Op{{Kind: OpTmpfs, Target: "/t", Mode: 0o1777, Size: 8192}}, "cd /t; i=0; while [ $i -lt 1100 ]; do (: >$i) 2>/dev/null || break; i=$((i+1)); done; [ $i -lt 1100 ] && echo bounded", "bounded\n"},
		{"times", []Op{{Kind: OpDir, Target: "/t/a", Mode: 0o755, Modified: 1_600_000_000_000_000_000}, {Kind: OpFile, Target: "/t/a/f", Mode: 0o644}, {Kind: OpDir, Target: "/t/b", Mode: 0, Modified: 1e18}, {Kind: OpDir, Target: "/", Modified: 1e18}}, "stat -c %Y:%u /t/a", "1600000000:1000\n"},
		{"tmpfs read-only", []Op{{Kind: OpTmpfs, Target: "/t", Mode: 0o1777, ReadOnly: true}}, ": >/t/x", "sh: 1: cannot create /t/x: Read-only file system\n"},
		{"bind file", []Op{{Kind: OpBind, Source: dir + "/file", Target: "/x/y", ReadOnly: true}}, "cat /x/y; echo >/x/y", "from the host\nsh: 1: cannot create /x/y: Read-only file system\n"},
		{"bind in", []Op{{Kind: OpFile, Target: "/own", Mode: 0o644, Data: []byte("own\n")}, {Kind: OpBind, Source: dir, Target: "/d"}, {Kind: OpBindIn, Source: "/own", Target: "/d/file", ReadOnly: true}}, "cat /d/file", "own\n"},
		{"optional", []Op{{Kind: OpBind, Source: dir + "/none", Target: "/n", Optional: true}, {Kind: OpBind, Source: dir + "/file/none", Target: "/n", Optional: true},
			{Kind: OpBind, Source: dir + "/file", Target: "/none", Optional: true}}, "ls /", "dev\nlib\nlib64\nproc\ntmp\nusr\n"},
		{"device", []Op{{Kind: OpBind, Source: "/dev/null", Target: "/other/null", Dev: true}, {Kind: OpBind, Source: "/dev/null", Target: "/other/dead"}}, "echo x >/other/null && echo y >/other/dead", "sh: 1: cannot create /other/dead: Permission denied\n"},
		{"devpts", []Op{{Kind: OpDevpts, Target: "/dev/pts"}}, "ls /dev/pts; stat -c %a /dev/pts/ptmx", "ptmx\n666\n"},
		{"mqueue", []Op{{Kind: OpMqueue, Target: "/dev/mqueue"}}, "stat -f -c %T /dev/mqueue", "mqueue\n"},
		{"seal", []Op{{Kind: OpTmpfs, Target: "/t", Mode: 0o777}, {Kind: OpFile, Target: "/t/f", Mode: 0o666}, {Kind: OpTmpfs, Target: "/t/in", Mode: 0o777}, {Kind: OpReadOnly, Target: "/t", Recursive: true}},
			": >/t/g", "sh: 1: cannot create /t/g: Read-only file system\n"},
		{"the root itself", nil, ": >/x", "sh: 1: cannot create /x: Read-only file system\n"},
	} {
		t.Run(row.name, func(t *testing.T) {
			out, _, err := run(t, with(shellBox(row.script+" 2>&1"), row.ops...))
			if row.name == "tmpfs" {
				out = strings.ReplaceAll(out, "head: error writing 'standard output': No space left on device\n", "")
			}
			if err != nil || out != row.output {
				t.Errorf("error %v, output\n%s\nwant\n%s", err, out, row.output)
			}
		})
	}
}

func TestUmask(t *testing.T) {
	needBox(t)
	before := syscall.Umask(0o077)
	defer syscall.Umask(before)
	want(t, with(shellBox("cat /a/b/c; umask; stat -c %a /a /d"), Op{Kind: OpFile, Target: "/a/b/c", Mode: 0o644, Data: []byte("read\n")}, Op{Kind: OpBind, Source: "/usr/lib", Target: "/d"}), "read\n0077\n755\n755\n", 0)
}

// names is what a path may hold: whatever the kernel lets be a name.
func TestNames(t *testing.T) {
	needBox(t)
	dir := hostDir(t)
	long := strings.Repeat("n", 255)
	for _, name := range []string{"new\nline", "\xff\xfe", long, " ", "quote\"'", "-n", "\x01"} {
		write(t, filepath.Join(dir, name), "ok\n", 0o644)
		s := with(shellBox(`cat -- "$1"; cat -- "$2"`), Op{Kind: OpBind, Source: filepath.Join(dir, name), Target: "/in/" + name, ReadOnly: true}, Op{Kind: OpFile, Target: "/made" + name[1:] + "/" + name, Mode: 0o644, Data: []byte("ok\n")})
		if name == long {
			s.Ops[len(s.Ops)-1].Target = "/" + long + "/" + long
		}
		s.Argv = append(s.Argv, "sh", "/in/"+name, s.Ops[len(s.Ops)-1].Target)
		want(t, s, "ok\nok\n", 0)
	}
}

func TestManyActs(t *testing.T) {
	needBox(t)
	dir := hostDir(t)
	s := shellBox("ls /many | wc -l; cat /many/2999; cat /t/299/f | wc -l")
	for i := range 3000 {
		s.Ops = append(s.Ops, Op{Kind: OpBind, Source: write(t, fmt.Sprintf("%s/%d", dir, i), fmt.Sprintln(i), 0o644), Target: fmt.Sprintf("/many/%d", i), ReadOnly: true})
	}
	for i := range 300 { // each of them a file system of its own that later targets are made in
		at := fmt.Sprintf("/t/%d", i)
		s.Ops = append(s.Ops, Op{Kind: OpTmpfs, Target: at, Mode: 0o755, Size: 8192}, Op{Kind: OpFile, Target: at + "/f", Mode: 0o644, Data: []byte("line\n")})
	}
	want(t, s, "3000\n2999\n1\n", 0)
}

func TestReadOnlyIsRecursive(t *testing.T) {
	needRoot(t) // makes the mounts on the host's side, in a mount namespace of its own
	dir := hostDir(t)
	script := fmt.Sprintf("mkdir %[1]s/sub && mount -t tmpfs none %[1]s/sub && chmod 1777 %[1]s/sub && exec \"$0\"", dir)
	for recursive, output := range map[bool]string{true: "read-only\n", false: "made\n"} {
		cmd := exec.Command("unshare", "-m", "sh", "-c", script, "/proc/self/exe")
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cmd.Args[len(cmd.Args)-1] = self
		// The control: without recursion, a sub-mount bound by itself is writable.
		body := "touch /d/sub/x 2>/dev/null && echo made || echo read-only"
		cmd.Env = []string{roleVar + "=submount " + fmt.Sprint(recursive), "BOX_TEST_SCRIPT=" + body, "BOX_TEST_DIR=" + dir, "PATH=/usr/bin:/usr/sbin:/bin"}
		out, err := cmd.CombinedOutput()
		if err != nil || string(out) != output {
			t.Errorf("recursive %v: %v, output %q, want %q", recursive, err, out, output)
		}
		_ = os.Remove(dir + "/sub")
	}
}

func TestSelfBind(t *testing.T) {
	needBox(t)
	dir := hostDir(t)
	if err := os.MkdirAll(dir+"/repo/.git/hooks", 0o777); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"/repo", "/repo/.git", "/repo/.git/hooks"} {
		if err := os.Chmod(dir+d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	attack := "cd /repo; mv .git .git2 2>&1; rmdir .git/hooks 2>&1; mv .git/hooks .git/h2 2>&1; touch .git/hooks/evil 2>&1; touch .git/fine && echo rest"
	s := with(shellBox(attack), Op{Kind: OpBind, Source: dir + "/repo", Target: "/repo"})
	guarded := with(shellBox(attack), s.Ops[len(s.Ops)-1], Op{Kind: OpBindIn, Source: "/repo/.git", Target: "/repo/.git"},
		Op{Kind: OpBindIn, Source: "/repo/.git/hooks", Target: "/repo/.git/hooks", ReadOnly: true})
	want(t, guarded, "mv: cannot move '.git' to '.git2': Device or resource busy\nrmdir: failed to remove '.git/hooks': Device or resource busy\n"+
		"mv: cannot move '.git/hooks' to '.git/h2': Device or resource busy\ntouch: cannot touch '.git/hooks/evil': Read-only file system\nrest\n", 0)
	out, _, err := run(t, s) // the control: unguarded, the first rename works
	if err != nil || strings.Contains(out, "busy") {
		t.Errorf("control: %q, %v", out, err)
	}
	if _, err := os.Stat(dir + "/repo/.git2"); err != nil {
		t.Errorf("control: %v", err)
	}
}

func TestMasks(t *testing.T) {
	needBox(t)
	dir := hostDir(t)
	write(t, dir+"/secret", "s3cret\n", 0o644)
	if err := os.Mkdir(dir+"/keys", 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, dir+"/keys/id", "s3cret\n", 0o644)
	ops := []Op{{Kind: OpFile, Target: "/run/psb/file"}, {Kind: OpDir, Target: "/run/psb/dir"}, {Kind: OpBind, Source: dir, Target: "/d"},
		{Kind: OpBindIn, Source: "/run/psb/file", Target: "/d/secret", ReadOnly: true}, {Kind: OpBindIn, Source: "/run/psb/dir", Target: "/d/keys", ReadOnly: true}}
	script := "cat /d/secret /d/keys/id; ls /d/keys; chmod 777 /d/secret 2>/dev/null || echo kept; : >/d/keys/x"
	out, _, err := run(t, with(shellBox("("+script+") 2>&1"), ops...))
	if err != nil || strings.Contains(out, "s3cret") || strings.Count(out, "Permission denied") < 3 || !strings.Contains(out, "kept\n") {
		t.Errorf("%v, output %q", err, out)
	}
	want(t, with(shellBox("cat /d/secret /d/keys/id"), ops[2]), "s3cret\ns3cret\n", 0)
}

func TestIdentityOfSource(t *testing.T) {
	needBox(t)
	dir := hostDir(t)
	write(t, dir+"/f", "right\n", 0o644)
	var st unix.Stat_t
	if err := unix.Stat(dir+"/f", &st); err != nil {
		t.Fatal(err)
	}
	bind := Op{Kind: OpBind, Source: dir + "/f", Target: "/f", SourceDev: st.Dev, SourceIno: st.Ino}
	want(t, with(shellBox("cat /f"), bind), "right\n", 0)
	write(t, dir+"/g", "wrong\n", 0o644)
	if err := os.Rename(dir+"/g", dir+"/f"); err != nil {
		t.Fatal(err)
	}
	refused(t, with(shellBox("cat /f"), bind), "mounts", syscall.ESTALE, dir+"/f is another object")
	optional := bind
	optional.Optional = true // what is there and wrong is not what is not there
	refused(t, with(shellBox("cat /f"), optional), "mounts", syscall.ESTALE, dir+"/f")
	if err := unix.Stat(dir+"/f", &st); err != nil {
		t.Fatal(err)
	}
	bind.SourceIno, bind.SourceDev = st.Ino, st.Dev+1
	refused(t, with(shellBox("cat /f"), bind), "mounts", syscall.ESTALE, dir+"/f")
}

func TestLinkInSource(t *testing.T) {
	needBox(t)
	dir := hostDir(t)
	if err := os.Mkdir(dir+"/real", 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, dir+"/real/f", "x\n", 0o644)
	for name, to := range map[string]string{"mid": "real", "last": "real/f", "magic": "/proc/self/root"} {
		if err := os.Symlink(to, dir+"/"+name); err != nil {
			t.Fatal(err)
		}
	}
	for _, source := range []string{dir + "/mid/f", dir + "/last", dir + "/magic", "/proc/self/root", "/proc/self/cwd/f"} {
		for _, optional := range []bool{false, true} {
			refused(t, with(shellBox(""), Op{Kind: OpBind, Source: source, Target: "/x", Optional: optional}), "mounts", syscall.ELOOP, source)
		}
	}
	want(t, with(shellBox("cat /x"), Op{Kind: OpBind, Source: dir + "/real/f", Target: "/x"}), "x\n", 0)
}

func TestNothingLeftOnHost(t *testing.T) {
	needBox(t)
	dir := hostDir(t)
	for _, d := range []string{"/root", "/shown", "/shown/sub"} {
		if err := os.Mkdir(dir+d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	look := func() string {
		info, err := os.ReadFile("/proc/self/mountinfo")
		if err != nil {
			t.Fatal(err)
		}
		tree, err := exec.Command("find", dir, "-printf", "%p %m %U %T@\n").Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(info) + string(tree)
	}
	before := look()
	s := with(shellBox("mount | wc -l"), Op{Kind: OpBind, Source: dir + "/shown", Target: "/shown"}, Op{Kind: OpTmpfs, Target: "/shown/sub", Mode: 0o777},
		Op{Kind: OpFile, Target: "/shown/sub/deep/er/f"}, Op{Kind: OpBind, Source: "/usr", Target: "/shown/sub/usr", Recursive: true})
	s.Root = dir + "/root"
	if out, exit, err := run(t, s); err != nil || exit.Status != 0 {
		t.Fatalf("%v %v %s", exit.Status, err, out)
	}
	// A folder that is, or becomes, the host's keeps the host's time.
	s = with(shellBox("exit 0"), Op{Kind: OpDir, Target: "/later", Mode: 0o755, Modified: 1e18}, Op{Kind: OpBind, Source: dir + "/shown", Target: "/later"}, Op{Kind: OpDir, Target: "/later/sub", Mode: 0o700, Modified: 1e18})
	if _, exit, err := run(t, s); err != nil || exit.Status != 0 {
		t.Fatal(exit.Status, err)
	}
	for _, target := range []string{"/shown/none", "/shown/none/deep"} {
		for _, o := range []Op{{Kind: OpDir}, {Kind: OpFile}, {Kind: OpSymlink, Source: "x"}, {Kind: OpTmpfs}, {Kind: OpBind, Source: "/usr"}, {Kind: OpBindIn, Source: "/usr"}, {Kind: OpProc}} {
			o.Target = target
			refused(t, with(shellBox(""), Op{Kind: OpBind, Source: dir + "/shown", Target: "/shown"}, o), "mounts", syscall.ENOENT, "nothing is made in folders of the host")
		}
	}
	if after := look(); after != before {
		t.Errorf("the host changed: before\n%s\nafter\n%s", before, after)
	}
}

func TestProc(t *testing.T) {
	needBox(t)
	want(t, shellBox("echo $$; cd /proc; echo [0-9]*"), "2\n1 2\n", 0)
	want(t, selfBox(t, "readonly", "/proc", "/proc/sys", "/proc/sys/kernel", "/proc/irq", "/proc/fs", "/proc/bus"),
		"/proc false\n/proc/sys true\n/proc/sys/kernel true\n/proc/irq true\n/proc/fs true\n/proc/bus true\n", 0)
	// pid 1 wears psb's binary and its descriptors: none of it is reachable.
	want(t, shellBox("for n in exe root cwd environ mem maps fd; do (cat /proc/1/$n || ls /proc/1/$n/) >/dev/null 2>&1 && echo $n; done; echo end"), "end\n", 0)
	s := selfBox(t, "readonly", "/proc")
	s.Ops[0].ReadOnly = true
	want(t, s, "/proc true\n", 0)
}

func TestHostNameAndLoopback(t *testing.T) {
	needBox(t)
	before, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	s := shellBox("uname -n; cat /proc/net/dev | tail -n +3 | cut -d: -f1")
	s.Hostname = "box.example"
	want(t, s, "box.example\n    lo\n", 0)
	if after, _ := os.Hostname(); after != before {
		t.Errorf("the host is now called %q", after)
	}
	out, exit, err := run(t, selfBox(t, "loopback"))
	if err != nil || exit.Status != 0 || !strings.HasPrefix(out, "through\n") {
		t.Errorf("%v %v %q", exit.Status, err, out)
	}
}

func TestIDMappedMount(t *testing.T) {
	needRoot(t)
	needBox(t)
	dir := hostDir(t)
	need(t, "idmap", ProbeIDMap(dir))
	write(t, dir+"/private", "root's\n", 0o600)
	bind := Op{Kind: OpBind, Source: dir, Target: "/d", Recursive: true}
	script := "cat /d/private; echo new >/d/made; stat -c %u:%g /d/private /d/made; echo more >>/d/private"
	if out, _, err := run(t, with(shellBox(script+" 2>&1"), bind)); err != nil || strings.Contains(out, "root's") {
		t.Fatalf("control without a map: %v %q", err, out)
	}
	bind.IDMap = true
	again := bind
	again.Target = "/again"
	want(t, with(shellBox(script), bind, again), "root's\n1000:1000\n1000:1000\n", 0)
	for name, text := range map[string]string{"private": "root's\nmore\n", "made": "new\n"} {
		var st unix.Stat_t
		if err := unix.Stat(dir+"/"+name, &st); err != nil || st.Uid != 0 || st.Gid != 0 {
			t.Errorf("%s: %v, owner %d:%d, want root", name, err, st.Uid, st.Gid)
		}
		if b, err := os.ReadFile(dir + "/" + name); err != nil || string(b) != text {
			t.Errorf("%s: %v %q", name, err, b)
		}
	}
}
