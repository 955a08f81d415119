package pythonshim

import (
	"path"
	"strings"
)

// Place says where a module's files stand.
type Place uint8

const (
	Elsewhere Place = iota // the program's own, missing, or made at run time
	Standard               // part of the interpreter
	Installed              // in one of Layout.Sites
)

// builtIn names the modules without a file in some build of 3.8 to 3.14; most builds have a file for most of them.
var builtIn = " __main__ _abc _ast _bisect _blake2 _bz2 _codecs _collections _contextvars _csv _datetime _functools _heapq _imp _io _json _locale _lsprof " +
	"_md5 _opcode _operator _pickle _posixsubprocess _random _sha1 _sha2 _sha256 _sha3 _sha512 _signal _socket _sre _stat _statistics _string _struct " +
	"_suggestions _symtable _sysconfig _thread _tokenize _tracemalloc _typing _warnings _weakref array atexit binascii builtins cmath errno faulthandler " +
	"fcntl gc grp itertools marshal math posix pwd pyexpat resource select spwd sys syslog termios time unicodedata xxsubtype zlib "

// Where tells, from file names alone, where the top-level module of a dotted name comes from. A module of the program
// that hides one of the standard library counts as Standard.
func (l Layout) Where(module string, look Looker) Place {
	top, _, _ := strings.Cut(module, ".")
	if top == "" || strings.ContainsAny(top, "/\x00") {
		return Elsewhere
	}
	if strings.Contains(builtIn, " "+top+" ") || isModule(look, l.Stdlib, top) || l.Platlib != "" && isModule(look, l.Platlib, top) {
		return Standard
	}
	for _, s := range l.Sites {
		if isModule(look, s, top) {
			return Installed
		}
	}
	return Elsewhere
}

// isModule: a folder, a source file, or an extension module (name.cpython-311-x86_64-linux-gnu.so, name.abi3.so, name.so).
func isModule(look Looker, dir, name string) bool {
	if name == "site-packages" || name == "dist-packages" || name == "__pycache__" {
		return false
	}
	for _, p := range []string{name, name + ".py", name + ".pyc"} {
		if st, err := look.Lstat(path.Join(dir, p)); err == nil && (p != name || !st.Mode().IsRegular()) {
			return true
		}
	}
	for _, n := range names(look, dir) {
		if strings.HasPrefix(n, name+".") && strings.HasSuffix(n, ".so") {
			return true
		}
	}
	return false
}
