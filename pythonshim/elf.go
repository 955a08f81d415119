package pythonshim

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

// image is what the dynamic linker reads of an ELF file.
type image struct {
	loader  string // DT_INTERP
	needed  []string
	rpath   []string // inherited by what the file loads; empty when there is a runpath
	runpath []string
	class   elf.Class
	machine elf.Machine
}

const maxLoader = 4096 // bytes of PT_INTERP

// readELF reads one file's headers. Hostile bytes are errors: debug/elf may be made to panic, so that is one too.
func readELF(look Looker, name string) (b image, err error) {
	r, err := look.Open(name)
	if err != nil {
		return b, fmt.Errorf("open %q: %w", name, err)
	}
	defer r.Close()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("read %q: damaged ELF file", name)
		}
	}()
	f, err := elf.NewFile(r)
	if err != nil {
		return b, fmt.Errorf("read %q: no ELF file: %w", name, err)
	}
	defer f.Close()
	if f.Type != elf.ET_EXEC && f.Type != elf.ET_DYN {
		return b, fmt.Errorf("read %q: no ELF program or library", name)
	}
	b.class, b.machine = f.Class, f.Machine
	for _, p := range f.Progs {
		if p.Type != elf.PT_INTERP {
			continue
		}
		if p.Filesz == 0 || p.Filesz > maxLoader {
			return b, fmt.Errorf("read %q: bad PT_INTERP", name)
		}
		text, err := io.ReadAll(p.Open())
		if err != nil {
			return b, fmt.Errorf("read %q: %w", name, err)
		}
		b.loader = strings.TrimRight(string(text), "\x00")
		if !path.IsAbs(b.loader) {
			return b, fmt.Errorf("read %q: interpreter %q is not an absolute path", name, b.loader)
		}
	}
	for tag, into := range map[elf.DynTag]*[]string{elf.DT_NEEDED: &b.needed, elf.DT_RPATH: &b.rpath, elf.DT_RUNPATH: &b.runpath} {
		v, err := f.DynString(tag)
		if err != nil {
			return b, fmt.Errorf("read %q: %w", name, err)
		}
		*into = v
	}
	if len(b.needed) > 1024 {
		return b, fmt.Errorf("read %q: more than 1024 libraries", name)
	}
	b.rpath, b.runpath = paths(b.rpath, name), paths(b.runpath, name)
	if len(b.runpath) > 0 {
		b.rpath = nil
	}
	return b, nil
}

// paths splits and expands search paths. $LIB and $PLATFORM depend on how the loader was built; the usual values are tried.
func paths(list []string, file string) []string {
	var out []string
	for _, l := range list {
		for _, p := range strings.Split(l, ":") {
			for _, o := range []string{"$ORIGIN", "${ORIGIN}"} {
				p = strings.ReplaceAll(p, o, path.Dir(file))
			}
			if strings.Contains(p, "$LIB") || strings.Contains(p, "${LIB}") {
				for _, lib := range []string{"lib", "lib64"} {
					out = append(out, path.Clean(strings.NewReplacer("${LIB}", lib, "$LIB", lib).Replace(p)))
				}
				continue
			}
			if path.IsAbs(p) && !strings.Contains(p, "$") {
				out = append(out, path.Clean(p))
			}
		}
	}
	return out
}

// errNoLibrary is a library that the loader would not find either.
var errNoLibrary = errors.New("library not found")
