package pythonshim

import (
	"bytes"
	_ "embed"
	"strconv"
)

// NoteFD is the descriptor the shim writes its notes to. It is negative, so it can never be a file: the write fails
// with EBADF, needs nothing inherited, and is seen only by who watches the system call (argument 0 as int32).
const NoteFD = -0x505342

// ShimDir is the read-only folder of ours inside a box; see [Files].
const ShimDir = "/run/psb"

// PackageDir is the folder in [ShimDir], or beside sitecustomize.py, in which the package psb lies.
const PackageDir = "python"

// Mode says what the shim is for.
type Mode uint8

const (
	// Learn notes who asks for files, programs, hosts, variables and imports, just before the access.
	Learn Mode = iota
	// Enforce notes variables that are not there and errors that nobody caught, and costs nothing until then.
	Enforce
)

// String gives the mode's word.
func (m Mode) String() string {
	if m == Learn {
		return "learn"
	}
	return "enforce"
}

//go:embed shim/common.py
var commonPy []byte

//go:embed shim/guard.py
var guardPy []byte

//go:embed shim/doors.py
var doorsPy []byte

//go:embed shim/calls.py
var callsPy []byte

//go:embed shim/texts.py
var textsPy []byte

//go:embed shim/imports.py
var importsPy []byte

//go:embed shim/learn.py
var learnPy []byte

//go:embed shim/enforce.py
var enforcePy []byte

//go:embed shim/inspect.py
var inspectPy []byte

//go:embed shim/start.py
var startPy []byte

//go:embed shim/user.py
var userPy []byte

// Overlay gives the bytes to show in place of an interpreter's encodings/__init__.py: the original with the whole
// shim behind it, so that no other file is needed. encodings is the one module that every start imports, whatever the
// flags (-I -E -S) and the environment. Python 3.8 and later.
func Overlay(original []byte, mode Mode) []byte {
	return overlay(original, mode, NoteFD, ShimDir)
}

func overlay(original []byte, mode Mode, fd int, dir string) []byte {
	var out bytes.Buffer
	out.Grow(len(original) + mostShim)
	out.Write(original)
	if n := len(original); n > 0 && original[n-1] != '\n' {
		out.WriteByte('\n')
	}
	shim(&out, mode, fd, dir, startPy)
	return out.Bytes()
}

// Files gives the files, by name, of the fallback for hosts without a mount namespace: the folder they are written to goes
// first on PYTHONPATH; dir is its path in the box. -I, -E and -S skip it, and a child with another environment loses it.
func Files(mode Mode, rules Rules, dir string) map[string][]byte {
	return files(mode, NoteFD, rules, dir)
}

func files(mode Mode, fd int, rules Rules, dir string) map[string][]byte {
	var out bytes.Buffer
	out.WriteString("import sys\n")
	shim(&out, mode, fd, dir, []byte("try:\n    install()\nexcept Exception as e:\n    broken(e)\n"))
	paste(&out, userPy, "")
	return map[string][]byte{"sitecustomize.py": out.Bytes(), RulesName: rules.Marshal()}
}

// closed ends an interpreter whose layer is not whole, as broken() in guard.py does: nothing else would refuse.
const closed = `try:
 _psb()
except Exception as e:
 import posix
 posix.write(2, ("psb: the layer in Python cannot start: %s: %s\n" % (type(e).__name__, e)).encode("utf-8", "replace"))
 posix._exit(125)
del _psb
`

// mostShim is room for the shim; it may need more.
const mostShim = 96 << 10

// shim builds one function out of the files: nothing of it stays reachable from a module. dir is the folder, in the box, of
// the rules and of the package. Every start does this, so a file without those names is not gone through for them.
func shim(out *bytes.Buffer, mode Mode, fd int, dir string, start []byte) {
	names := [][2]string{{"RULES_PATH", dir + "/" + RulesName}, {"PACKAGE_PATH", dir + "/" + PackageDir}}
	part := func(src []byte) {
		for _, n := range names {
			if bytes.Contains(src, []byte(n[0])) {
				src = bytes.ReplaceAll(src, []byte(n[0]), []byte(n[1]))
			}
		}
		paste(out, src, " ")
	}
	out.WriteString("def _psb():\n import sys\n FD = " + strconv.Itoa(fd) + "\n")
	part(commonPy)
	out.WriteString(map[Mode]string{Learn: " ENFORCE = False\n", Enforce: " ENFORCE = True\n"}[mode])
	for _, src := range [][]byte{guardPy, importsPy, doorsPy, callsPy, textsPy} {
		part(src)
	}
	if mode == Learn {
		part(learnPy)
	} else {
		part(inspectPy)
		part(enforcePy)
	}
	part(start)
	out.WriteString(map[Mode]string{Learn: "try:\n _psb()\nexcept Exception:\n pass\ndel _psb\n", Enforce: closed}[mode])
}

// paste indents src and leaves out what only readers need. The shim's files hold no text over several lines, so a line
// that begins with # is a comment.
func paste(out *bytes.Buffer, src []byte, indent string) {
	for line := range bytes.Lines(src) {
		trimmed := bytes.TrimSpace(line)
		if len(trimmed) == 0 || trimmed[0] == '#' || bytes.HasSuffix(trimmed, []byte("# psb: cut")) {
			continue
		}
		out.WriteString(indent)
		out.Write(bytes.TrimRight(line, "\n"))
		out.WriteByte('\n')
	}
}
