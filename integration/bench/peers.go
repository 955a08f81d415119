package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"golang.org/x/net/bpf"
)

// peer turns a row into a command line; absent says why it is not here.
type peer struct {
	name    string
	command func(r row) (*exec.Cmd, error)
	absent  string
}

func (p place) boxed(r row) []string {
	return append([]string{p.psb, "--python", p.python, "--policy", ".py-sandboxes"}, r.args...)
}

// smallFilter is bubblewrap as one would write it by hand: all namespaces, a root of ten binds, private /tmp, /dev and /proc, no capabilities,
// and a filter of 60 instructions.
func (p place) smallFilter() peer {
	x := peer{name: "bubblewrap+60"}
	path, err := exec.LookPath("bwrap")
	if err != nil {
		x.absent = "apt-get install bubblewrap"
		return x
	}
	filter := filepath.Join(p.aside, "filter-60.bpf")
	if err := os.WriteFile(filter, sixty(), 0o644); err != nil {
		x.absent = err.Error()
		return x
	}
	argv := append(p.bubblewrap(path), "--chdir", p.dir)
	for _, object := range []string{"/usr/bin", "/usr/lib", "/usr/share/zoneinfo", "/etc/ssl", "/etc/localtime", "/etc/passwd", "/etc/group", "/etc/hosts", "/etc/ld.so.cache", p.dir} {
		if _, err := os.Stat(object); err == nil {
			argv = append(argv, "--ro-bind", object, object)
		}
	}
	argv = append(argv, "--bind", p.dir+"/work", p.dir+"/work")
	for _, link := range []string{"/bin", "/lib", "/lib64"} {
		if target, err := os.Readlink(link); err == nil {
			argv = append(argv, "--symlink", target, link)
		}
	}
	if _, err := os.Stat("/usr/lib64"); err == nil {
		argv = append(argv, "--ro-bind", "/usr/lib64", "/usr/lib64")
	}
	argv = append(argv, "--seccomp", "3", p.python)
	x.command = func(r row) (*exec.Cmd, error) {
		return p.withFilter(filter, append(argv[:len(argv):len(argv)], r.args...))
	}
	return x
}

// bubblewrap is how both bubblewraps begin.
func (p place) bubblewrap(path string) []string {
	return []string{path, "--unshare-all", "--die-with-parent", "--cap-drop", "ALL", "--clearenv", "--setenv", "PATH", "/usr/bin:/bin", "--setenv", "PYTHONDONTWRITEBYTECODE", "1",
		"--tmpfs", "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"}
}

// withFilter hands the filter over as descriptor 3.
func (p place) withFilter(filter string, argv []string) (*exec.Cmd, error) {
	f, err := os.Open(filter)
	if err != nil {
		return nil, err
	}
	c := p.start(argv...)
	c.ExtraFiles = []*os.File{f}
	return c, nil
}

// sixty is a filter of 60 instructions that lets everything pass which the rows call: as long as a small real one, in host byte order of
// little-endian machines.
func sixty() []byte {
	const allow, enosys = 0x7fff0000, 0x00050000 | 38
	program := []bpf.Instruction{bpf.LoadAbsolute{Off: 0, Size: 4}}
	for n := range uint32(57) { // numbers above every real call
		program = append(program, bpf.JumpIf{Cond: bpf.JumpEqual, Val: 10_000 + n, SkipTrue: uint8(57 - n)})
	}
	program = append(program, bpf.RetConstant{Val: allow}, bpf.RetConstant{Val: enosys})
	raw, err := bpf.Assemble(program)
	if err != nil {
		panic(fmt.Sprint("BUG: ", err))
	}
	var b []byte
	for _, i := range raw {
		b = binary.LittleEndian.AppendUint16(b, i.Op)
		b = append(b, i.Jt, i.Jf)
		b = binary.LittleEndian.AppendUint32(b, i.K)
	}
	return b
}

// strace is what learning is compared with: the calls that matter, and a filter so that only those stop.
func (p place) strace() peer {
	x := peer{name: "strace"}
	path, err := exec.LookPath("strace")
	if err != nil {
		x.absent = "apt-get install strace"
		return x
	}
	x.command = func(r row) (*exec.Cmd, error) {
		return p.start(append([]string{path, "-f", "--seccomp-bpf", "-e", "trace=file,network,process", "-o", filepath.Join(p.aside, "strace.out"), p.python}, r.args...)...), nil
	}
	return x
}
