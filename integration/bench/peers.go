package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"golang.org/x/net/bpf"
)

// bubblewrap builds a box as near to psb's as its options reach: all namespaces, a root of the same binds, private /tmp, /dev and /proc,
// no capabilities, and a filter of 60 instructions.
func bubblewrap(dir, python string, start func(...string) *exec.Cmd) peer {
	p := peer{name: "bubblewrap"}
	path, err := exec.LookPath("bwrap")
	if err != nil {
		p.absent = "apt-get install bubblewrap"
		return p
	}
	filter := filepath.Join(dir, "filter.bpf")
	if err := os.WriteFile(filter, sixty(), 0o644); err != nil {
		p.absent = err.Error()
		return p
	}
	argv := []string{path, "--unshare-all", "--die-with-parent", "--cap-drop", "ALL", "--clearenv", "--setenv", "PATH", "/usr/bin:/bin", "--setenv", "PYTHONDONTWRITEBYTECODE", "1",
		"--tmpfs", "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--chdir", dir}
	// What psb has in the box without a rule, and the three rules of the policy.
	for _, object := range []string{"/usr/bin", "/usr/lib", "/usr/share/zoneinfo", "/etc/ssl", "/etc/localtime", "/etc/passwd", "/etc/group", "/etc/hosts", "/etc/ld.so.cache", dir} {
		if _, err := os.Stat(object); err == nil {
			argv = append(argv, "--ro-bind", object, object)
		}
	}
	for _, link := range []string{"/bin", "/lib", "/lib64"} {
		if target, err := os.Readlink(link); err == nil {
			argv = append(argv, "--symlink", target, link)
		}
	}
	if _, err := os.Stat("/usr/lib64"); err == nil {
		argv = append(argv, "--ro-bind", "/usr/lib64", "/usr/lib64")
	}
	argv = append(argv, "--seccomp", "3", python)
	p.command = func(r row) *exec.Cmd {
		f, err := os.Open(filter)
		c := start(append(argv[:len(argv):len(argv)], r.args...)...)
		if err == nil {
			c.ExtraFiles = []*os.File{f}
		}
		return c
	}
	return p
}

// sixty is a filter of 60 instructions that lets everything pass which the rows call: as long as a real one, in host byte order of
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
func strace(dir, python string, start func(...string) *exec.Cmd) peer {
	p := peer{name: "strace"}
	path, err := exec.LookPath("strace")
	if err != nil {
		p.absent = "apt-get install strace"
		return p
	}
	p.command = func(r row) *exec.Cmd {
		return start(append([]string{path, "-f", "--seccomp-bpf", "-e", "trace=file,network,process", "-o", filepath.Join(dir, "strace.out"), python}, r.args...)...)
	}
	return p
}
