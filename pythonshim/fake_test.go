package pythonshim

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"
	"time"
)

// tree is a machine made of text: path → content, "-> text" for a link, "dir" for a folder.
type tree struct {
	nodes map[string]string
	env   map[string]string
	cwd   string
	opens []string
}

func machine(cwd string, env map[string]string, parts ...map[string]string) *tree {
	m := &tree{nodes: map[string]string{"/": "dir"}, env: env, cwd: cwd}
	for _, part := range parts {
		for p, v := range part {
			m.nodes[p] = v
			for d := path.Dir(p); d != "/"; d = path.Dir(d) {
				if _, there := m.nodes[d]; !there {
					m.nodes[d] = "dir"
				}
			}
		}
	}
	return m
}

type node struct {
	name string
	mode fs.FileMode
	size int64
}

func (n node) Name() string               { return n.name }
func (n node) Size() int64                { return n.size }
func (n node) Mode() fs.FileMode          { return n.mode }
func (n node) ModTime() time.Time         { return time.Time{} }
func (n node) IsDir() bool                { return n.mode.IsDir() }
func (n node) Sys() any                   { return nil }
func (n node) Type() fs.FileMode          { return n.mode.Type() }
func (n node) Info() (fs.FileInfo, error) { return n, nil }

func (m *tree) Lstat(name string) (fs.FileInfo, error) {
	// A link in the folder part is the walker's to resolve: asking through one is a mistake that must show.
	v, ok := m.nodes[name]
	if !ok {
		return nil, &fs.PathError{Op: "lstat", Path: name, Err: fs.ErrNotExist}
	}
	n := node{name: path.Base(name), mode: 0o644, size: int64(len(v))}
	switch {
	case v == "dir":
		n.mode = fs.ModeDir | 0o755
	case strings.HasPrefix(v, "-> "):
		n.mode = fs.ModeSymlink | 0o777
	case strings.HasPrefix(v, "\x7fELF"), strings.HasPrefix(v, "#!"):
		n.mode = 0o755
	}
	return n, nil
}

func (m *tree) Readlink(name string) (string, error) {
	text, ok := strings.CutPrefix(m.nodes[name], "-> ")
	if !ok {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: fs.ErrInvalid}
	}
	return text, nil
}

func (m *tree) ReadDir(name string) ([]fs.DirEntry, error) {
	real, st, err := newWalker(m).real(name)
	if err != nil || !st.IsDir() {
		return nil, errors.New("no folder")
	}
	var out []fs.DirEntry
	for p := range m.nodes {
		if p != "/" && path.Dir(p) == real {
			st, _ := m.Lstat(p)
			out = append(out, st.(node))
		}
	}
	slices.SortFunc(out, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return out, nil
}

type content struct{ *bytes.Reader }

func (content) Close() error { return nil }

func (m *tree) Open(name string) (File, error) {
	real, st, err := newWalker(m).real(name)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, errors.New("no regular file")
	}
	m.opens = append(m.opens, real)
	return content{bytes.NewReader([]byte(m.nodes[real]))}, nil
}

func (m *tree) Getenv(name string) string { return m.env[name] }
func (m *tree) Dir() string               { return m.cwd }

// program makes a small ELF file that names a loader, libraries and a run path; its section headers say the same as its program headers.
func program(loader string, runpath string, needed ...string) string {
	const head, prog, sect, base = 64, 56, 64, 0x400000
	strtab := "\x00"
	put := func(s string) uint64 { n := len(strtab); strtab += s + "\x00"; return uint64(n) }
	var dyn []elf.Dyn64
	for _, n := range needed {
		dyn = append(dyn, elf.Dyn64{Tag: int64(elf.DT_NEEDED), Val: put(n)})
	}
	if runpath != "" {
		dyn = append(dyn, elf.Dyn64{Tag: int64(elf.DT_RUNPATH), Val: put(runpath)})
	}
	names := "\x00s\x00d\x00"
	interp := loader + "\x00"
	offInterp := uint64(head + 3*prog)
	offStr := offInterp + uint64(len(interp))
	offNames := offStr + uint64(len(strtab))
	offDyn := offNames + uint64(len(names))
	dyn = append(dyn, elf.Dyn64{Tag: int64(elf.DT_STRTAB), Val: base + offStr}, elf.Dyn64{Tag: int64(elf.DT_NULL)})
	sizeDyn := uint64(16 * len(dyn))
	offSect := offDyn + sizeDyn
	h := elf.Header64{Type: uint16(elf.ET_DYN), Machine: uint16(elf.EM_X86_64), Version: 1, Phoff: head, Shoff: offSect,
		Ehsize: head, Phentsize: prog, Phnum: 3, Shentsize: sect, Shnum: 4, Shstrndx: 3}
	copy(h.Ident[:], "\x7fELF\x02\x01\x01")
	p := elf.Prog64{Type: uint32(elf.PT_INTERP), Off: offInterp, Filesz: uint64(len(interp))}
	if loader == "" {
		p.Type = uint32(elf.PT_NULL)
	}
	var out bytes.Buffer
	w := func(v any) {
		if err := binary.Write(&out, binary.LittleEndian, v); err != nil {
			panic(err)
		}
	}
	w(h)
	w([]elf.Prog64{p, {Type: uint32(elf.PT_LOAD), Vaddr: base, Filesz: offSect, Memsz: offSect},
		{Type: uint32(elf.PT_DYNAMIC), Off: offDyn, Vaddr: base + offDyn, Filesz: sizeDyn, Memsz: sizeDyn}})
	w([]byte(interp + strtab + names))
	w(dyn)
	w([]elf.Section64{{}, {Name: 1, Type: uint32(elf.SHT_STRTAB), Off: offStr, Size: uint64(len(strtab))},
		{Name: 3, Type: uint32(elf.SHT_DYNAMIC), Off: offDyn, Size: sizeDyn, Link: 1, Entsize: 16},
		{Name: 1, Type: uint32(elf.SHT_STRTAB), Off: offNames, Size: uint64(len(names))}})
	return out.String()
}

func TestProgramIsAnELFFile(t *testing.T) {
	m := machine("/", nil, map[string]string{"/p": program("/lib64/ld.so", "$ORIGIN/../lib", "libpython3.12.so.1.0", "libc.so.6")})
	b, err := readELF(m, "/p")
	if err != nil {
		t.Fatal(err)
	}
	if b.loader != "/lib64/ld.so" || !slices.Equal(b.needed, []string{"libpython3.12.so.1.0", "libc.so.6"}) || !slices.Equal(b.runpath, []string{"/lib"}) {
		t.Errorf("read %+v", b)
	}
}
