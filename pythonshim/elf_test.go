package pythonshim

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// asDebugELF reads an image by way of debug/elf; ok is false where debug/elf refuses the file, which says nothing: it demands section headers in
// order, too.
func asDebugELF(text, name string) (of image, bad, ok bool) {
	f, err := elf.NewFile(strings.NewReader(text))
	if err != nil {
		return of, false, false
	}
	if f.Type != elf.ET_EXEC && f.Type != elf.ET_DYN || !headerFits(text, f) {
		return of, true, true
	}
	of.class, of.machine = f.Class, f.Machine
	first := slices.IndexFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP })
	if first >= 0 {
		p := f.Progs[first]
		if p.Filesz == 0 || p.Filesz > 4096 || p.Off > uint64(len(text)) || uint64(len(text))-p.Off < p.Filesz {
			return of, true, true
		}
		of.loader, _, _ = strings.Cut(text[p.Off:p.Off+p.Filesz], "\x00")
		if !strings.HasPrefix(of.loader, "/") {
			return of, true, true
		}
	}
	var section *elf.Prog
	for _, p := range f.Progs {
		if p.Type == elf.PT_DYNAMIC && p.Filesz > 0 {
			section = p
		}
	}
	if section == nil {
		return of, false, true
	}
	table, whole := atAddress(text, f, section.Vaddr)
	if uint64(len(table)) < section.Filesz || uint64(whole) < section.Filesz || section.Filesz > 1<<16 {
		return of, true, true
	}
	table = table[:section.Filesz]
	var base uint64
	var asked []elf.Dyn64
	for size := map[elf.Class]int{elf.ELFCLASS64: 16, elf.ELFCLASS32: 8}[f.Class]; len(table) >= size; table = table[size:] {
		var d elf.Dyn64
		if size == 16 {
			d = elf.Dyn64{Tag: int64(f.ByteOrder.Uint64([]byte(table))), Val: f.ByteOrder.Uint64([]byte(table[8:]))}
		} else {
			d = elf.Dyn64{Tag: int64(f.ByteOrder.Uint32([]byte(table))), Val: uint64(f.ByteOrder.Uint32([]byte(table[4:])))}
		}
		if elf.DynTag(d.Tag) == elf.DT_NULL {
			break
		}
		if elf.DynTag(d.Tag) == elf.DT_STRTAB {
			base = d.Val
		}
		asked = append(asked, d)
	}
	for _, d := range asked {
		into := map[elf.DynTag]*[]string{elf.DT_NEEDED: &of.needed, elf.DT_RPATH: &of.rpath, elf.DT_RUNPATH: &of.runpath}[elf.DynTag(d.Tag)]
		if into == nil {
			continue
		}
		rest, _ := atAddress(text, f, base+d.Val)
		s, _, ended := strings.Cut(rest[:min(len(rest), 1<<16)], "\x00")
		if !ended {
			return of, true, true
		}
		*into = append(*into, s)
	}
	of.rpath, of.runpath = paths(of.rpath, name), paths(of.runpath, name)
	if len(of.runpath) > 0 {
		of.rpath = nil
	}
	return of, len(of.needed) > 1024, true
}

// headerFits says of the file's header what debug/elf does not: the program headers have the size they should, and are as many as the kernel takes.
func headerFits(text string, f *elf.File) bool {
	each, at := 56, 54
	if f.Class == elf.ELFCLASS32 {
		each, at = 32, 42
	}
	return int(f.ByteOrder.Uint16([]byte(text[at:]))) == each && len(f.Progs) > 0 && len(f.Progs)*each <= 1<<16
}

// atAddress gives the bytes from an address to the end of its segment: those that the file has, and how many it says there are.
func atAddress(text string, f *elf.File, address uint64) (there string, whole int) {
	for _, p := range slices.Backward(f.Progs) {
		if p.Type != elf.PT_LOAD || address < p.Vaddr || address-p.Vaddr >= p.Filesz {
			continue
		}
		whole = int(min(p.Filesz-(address-p.Vaddr), 1<<30))
		from := p.Off + (address - p.Vaddr)
		if from < p.Off || from > uint64(len(text)) {
			return "", whole
		}
		return text[from:min(uint64(len(text)), from+uint64(whole))], whole
	}
	return "", 0
}

// FuzzELF: bytes from a project never bring the launcher down, and what is read of them is what debug/elf shows.
func FuzzELF(f *testing.F) {
	for _, text := range hostileELF() {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := readELF(machine("/", nil, map[string]string{"/p": string(b)}), "/p")
		want, bad, ok := asDebugELF(string(b), "/p")
		if !ok {
			return
		}
		if bad != (err != nil) {
			t.Fatalf("error %v, debug/elf shows one: %v", err, bad)
		}
		if err == nil {
			sameImage(t, "/p", got, want)
		}
	})
}

func sameImage(t *testing.T, name string, got, want image) {
	t.Helper()
	if got.loader != want.loader || !slices.Equal(got.needed, want.needed) || !slices.Equal(got.rpath, want.rpath) || !slices.Equal(got.runpath, want.runpath) ||
		got.class != want.class || got.machine != want.machine {
		t.Errorf("%s: read %+v\nwant %+v", name, got, want)
	}
}

// hostileELF are files that a reader may stumble over, by what is wrong with them; beside whole ones of either class and order.
func hostileELF() map[string]string {
	whole := program(loader, "$ORIGIN/../lib:/opt/lib", "libz.so.1", "libc.so.6")
	changed := func(at int, text string) string { return whole[:at] + text + whole[at+len(text):] }
	number := func(at int, n uint64) string {
		return changed(at, string(binary.LittleEndian.AppendUint64(nil, n)))
	}
	const header, each, load, dynamic = 64, 56, 64 + 56, 64 + 2*56
	out := map[string]string{
		"whole":                              whole,
		"of 32 bits":                         small(binary.LittleEndian),
		"of 32 bits, big end first":          small(binary.BigEndian),
		"no section headers":                 changed(40, "\x00\x00\x00\x00\x00\x00\x00\x00"+whole[48:58]+"\x00\x00\x00\x00\x00\x00"),
		"nothing but the magic number":       "\x7fELF",
		"no more than the identification":    whole[:16],
		"cut within the header":              whole[:40],
		"cut within the program headers":     whole[:header+each+10],
		"cut within the dynamic section":     whole[:strings.LastIndex(whole, "d\x00")+12],
		"another version":                    changed(6, "\x02"),
		"no class":                           changed(4, "\x07"),
		"no order of bytes":                  changed(5, "\x09"),
		"a core dump":                        changed(16, "\x04"),
		"program headers of another size":    changed(54, "\x40"),
		"no program headers":                 changed(56, "\x00"),
		"more program headers than allowed":  changed(56, "\xff\xff"),
		"program headers beyond the file":    number(32, 1<<40),
		"program headers beyond all files":   number(32, 1<<63+1),
		"a loader of no bytes":               number(header+32, 0),
		"a loader of many bytes":             number(header+32, 5000),
		"a loader beyond the file":           number(header+8, 1<<20),
		"a segment that wraps round":         number(load+8, 1<<64-8),
		"a segment of all addresses":         number(load+32, 1<<64-1),
		"a segment that holds nothing":       number(load+32, 0),
		"a dynamic section at no address":    number(dynamic+16, 1),
		"a dynamic section of every byte":    number(dynamic+32, 1<<62),
		"a dynamic section of an odd size":   number(dynamic+32, 17),
		"a dynamic section of no size":       number(dynamic+32, 0),
		"a dynamic section that has no end":  changed(dynamicEnd(whole)-16, "\x1e\x00\x00\x00\x00\x00\x00\x00aaaaaaaa"),
		"strings at no address":              changed(dynamicEnd(whole)-24, "\x00\x00\x00\x00\x00\x00\x00\x7f"),
		"strings that wrap round":            changed(dynamicEnd(whole)-24, "\xff\xff\xff\xff\xff\xff\xff\xff"),
		"a name behind the strings":          changed(dynamicEnd(whole)-5*16+8, "\xff\xff"),
		"a list of folders longer than most": program(loader, "/"+strings.Repeat("a", 1<<16), "libc.so.6"),
		"more libraries than most":           program(loader, "", slices.Repeat([]string{"libc.so.6"}, 1025)...),
		"a relative loader":                  program("lib/ld.so", ""),
	}
	return out
}

// dynamicEnd is where the dynamic section of what program makes ends: its section headers follow.
func dynamicEnd(text string) int { return int(binary.LittleEndian.Uint64([]byte(text[40:]))) }

// small makes an ELF file of 32 bits.
func small(order binary.ByteOrder) string {
	const head, prog, base = 52, 32, 0x10000
	strtab := "\x00libm.so.6\x00/opt/lib\x00"
	interp := "/lib/ld-linux.so.2\x00"
	offInterp := uint32(head + 3*prog)
	offStr := offInterp + uint32(len(interp))
	offDyn := offStr + uint32(len(strtab))
	dyn := []elf.Dyn32{{Tag: int32(elf.DT_STRTAB), Val: base + offStr}, {Tag: int32(elf.DT_NEEDED), Val: 1}, {Tag: int32(elf.DT_RPATH), Val: 11}, {}}
	sizeDyn := uint32(8 * len(dyn))
	h := elf.Header32{Type: uint16(elf.ET_EXEC), Machine: uint16(elf.EM_386), Version: 1, Phoff: head, Ehsize: head, Phentsize: prog, Phnum: 3}
	copy(h.Ident[:], "\x7fELF\x01\x01\x01")
	if order == binary.BigEndian {
		h.Ident[elf.EI_DATA] = byte(elf.ELFDATA2MSB)
	}
	var out bytes.Buffer
	for _, v := range []any{h, []elf.Prog32{{Type: uint32(elf.PT_INTERP), Off: offInterp, Filesz: uint32(len(interp))},
		{Type: uint32(elf.PT_LOAD), Vaddr: base, Filesz: offDyn + sizeDyn}, {Type: uint32(elf.PT_DYNAMIC), Off: offDyn, Vaddr: base + offDyn, Filesz: sizeDyn}},
		[]byte(interp + strtab), dyn} {
		if err := binary.Write(&out, order, v); err != nil {
			panic(err)
		}
	}
	return out.String()
}

// TestReadELF: what is wrong with a file is an error; section headers have no say.
func TestReadELF(t *testing.T) {
	whole := image{loader: loader, needed: []string{"libz.so.1", "libc.so.6"}, runpath: []string{"/lib", "/opt/lib"}, class: elf.ELFCLASS64, machine: elf.EM_X86_64}
	bare := whole
	bare.needed, bare.runpath = nil, nil
	good := map[string]image{
		"whole": whole, "no section headers": whole, "a dynamic section that has no end": whole,
		"of 32 bits":                   {loader: "/lib/ld-linux.so.2", needed: []string{"libm.so.6"}, rpath: []string{"/opt/lib"}, class: elf.ELFCLASS32, machine: elf.EM_386},
		"of 32 bits, big end first":    {loader: "/lib/ld-linux.so.2", needed: []string{"libm.so.6"}, rpath: []string{"/opt/lib"}, class: elf.ELFCLASS32, machine: elf.EM_386},
		"a dynamic section of no size": bare, "a segment of all addresses": whole,
	}
	for what, text := range hostileELF() {
		got, err := readELF(machine("/", nil, map[string]string{"/p": text}), "/p")
		want, fine := good[what]
		if fine != (err == nil) {
			t.Errorf("%s: error %v, %+v", what, err, got)
		} else if fine {
			sameImage(t, what, got, want)
		}
		if _, bad, ok := asDebugELF(text, "/p"); ok && bad == fine {
			t.Errorf("%s: debug/elf shows an error: %v", what, bad)
		}
	}
}

// TestReadELFOfThisSystem: of the system's own files the program headers tell what the section headers tell.
func TestReadELFOfThisSystem(t *testing.T) {
	read, different := 0, 0
	for _, pattern := range []string{"/usr/bin/*", "/usr/lib/*-linux-gnu/*.so*", "/usr/lib64/*.so*", "/lib/*.so*"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files[:min(len(files), 400)] {
			f, err := elf.Open(name)
			if err != nil {
				continue
			}
			got, err := readELF(Host{}, name)
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			want, err := f.DynString(elf.DT_NEEDED)
			if err != nil || !slices.Equal(got.needed, want) {
				t.Errorf("%s: needs %q, want %q, %v", name, got.needed, want, err)
				different++
			}
			for tag, list := range map[elf.DynTag][]string{elf.DT_RUNPATH: got.runpath, elf.DT_RPATH: got.rpath} {
				if want, _ := f.DynString(tag); !slices.Equal(list, paths(want, name)) {
					t.Errorf("%s: %v %q, want %q", name, tag, list, want)
				}
			}
			f.Close()
			if read++; different > 5 {
				t.FailNow()
			}
		}
	}
	if _, err := os.Stat("/usr/bin/env"); err == nil && read < 20 {
		t.Errorf("only %d ELF files were read", read)
	}
}
