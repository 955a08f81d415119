package pythonshim

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"path"
	"strings"
)

// image is what the kernel and the dynamic linker read of an ELF file.
type image struct {
	loader  string // DT_INTERP
	needed  []string
	rpath   []string // inherited by what the file loads; empty when there is a runpath
	runpath []string
	class   elf.Class
	machine elf.Machine
}

// Bounds on what an ELF file may say. The first two are the kernel's own.
const (
	maxLoader   = 4096    // bytes of PT_INTERP
	maxSegments = 1 << 16 // bytes of all program headers
	maxDynamic  = 1 << 16 // bytes of the dynamic section
	maxNeeded   = 1024    // libraries that one file may name
	maxName     = 1 << 16 // bytes of a name, or of a list of folders
)

// parseELF reads one file as whoever starts it does: by its program headers, the dynamic section and the strings that these name. Section headers
// and symbols are for others, may be missing, and are most of what there is to read. Hostile bytes are errors.
func parseELF(r *window, name string) (image, error) {
	b, err := newObject(r)
	if err != nil {
		return image{}, fmt.Errorf("read %q: no ELF program or library: %w", name, err)
	}
	of := image{class: b.class, machine: b.machine}
	if of.loader, err = b.interpreter(); err != nil {
		return image{}, fmt.Errorf("read %q: %w", name, err)
	}
	if err := b.dynamic(&of); err != nil {
		return image{}, fmt.Errorf("read %q: %w", name, err)
	}
	of.rpath, of.runpath = paths(of.rpath, name), paths(of.runpath, name)
	if len(of.runpath) > 0 {
		of.rpath = nil
	}
	return of, nil
}

// object is an ELF file whose program headers are read.
type object struct {
	r        *window
	order    binary.ByteOrder
	class    elf.Class
	machine  elf.Machine
	segments []segment
}

// segment is one program header. Addresses are those of the file, before it is placed in memory.
type segment struct {
	kind                  elf.ProgType
	offset, address, size uint64 // size: bytes of the file
}

var (
	errNotELF   = errors.New("its header is not one")
	errSegments = errors.New("no program headers, or damaged ones")
)

func newObject(r *window) (*object, error) {
	b := &object{r: r}
	head, err := r.bytes(0, elf.EI_NIDENT)
	if err != nil {
		return nil, err
	}
	if string(head[:4]) != elf.ELFMAG || elf.Version(head[elf.EI_VERSION]) != elf.EV_CURRENT {
		return nil, errNotELF
	}
	switch elf.Data(head[elf.EI_DATA]) {
	case elf.ELFDATA2LSB:
		b.order = binary.LittleEndian
	case elf.ELFDATA2MSB:
		b.order = binary.BigEndian
	default:
		return nil, errNotELF
	}
	b.class = elf.Class(head[elf.EI_CLASS])
	var size, each, at int // of the header, of a program header, where their number stands
	var first uint64
	switch b.class {
	case elf.ELFCLASS64:
		size, each, at = 64, 56, 56
	case elf.ELFCLASS32:
		size, each, at = 52, 32, 44
	default:
		return nil, errNotELF
	}
	if head, err = r.bytes(0, size); err != nil {
		return nil, err
	}
	kind := elf.Type(b.order.Uint16(head[16:]))
	if kind != elf.ET_EXEC && kind != elf.ET_DYN || elf.Version(b.order.Uint32(head[20:])) != elf.EV_CURRENT {
		return nil, errNotELF
	}
	b.machine = elf.Machine(b.order.Uint16(head[18:]))
	if b.class == elf.ELFCLASS64 {
		first = b.order.Uint64(head[32:])
	} else {
		first = uint64(b.order.Uint32(head[28:]))
	}
	count := int(b.order.Uint16(head[at:]))
	if int(b.order.Uint16(head[at-2:])) != each || count == 0 || count*each > maxSegments {
		return nil, errSegments
	}
	table, err := r.bytes(first, count*each)
	if err != nil {
		return nil, err
	}
	b.segments = make([]segment, count)
	for i := range b.segments {
		b.segments[i] = b.segment(table[i*each:])
	}
	return b, nil
}

func (b *object) segment(p []byte) segment {
	s := segment{kind: elf.ProgType(b.order.Uint32(p))}
	if b.class == elf.ELFCLASS64 {
		s.offset, s.address, s.size = b.order.Uint64(p[8:]), b.order.Uint64(p[16:]), b.order.Uint64(p[32:])
	} else {
		s.offset, s.address, s.size = uint64(b.order.Uint32(p[4:])), uint64(b.order.Uint32(p[8:])), uint64(b.order.Uint32(p[16:]))
	}
	return s
}

// interpreter is the loader that the kernel starts: of several PT_INTERP the first counts.
func (b *object) interpreter() (string, error) {
	for _, s := range b.segments {
		if s.kind != elf.PT_INTERP {
			continue
		}
		if s.size == 0 || s.size > maxLoader {
			return "", errors.New("bad PT_INTERP")
		}
		text, err := b.r.bytes(s.offset, int(s.size))
		if err != nil {
			return "", err
		}
		loader, _, _ := strings.Cut(string(text), "\x00")
		if !path.IsAbs(loader) {
			return "", fmt.Errorf("interpreter %q is not an absolute path", loader)
		}
		return loader, nil
	}
	return "", nil
}

// inFile gives where the bytes of an address stand in the file, and how many follow there.
func (b *object) inFile(address uint64) (offset, left uint64, ok bool) {
	for _, s := range b.segments {
		if s.kind == elf.PT_LOAD && address >= s.address && address-s.address < s.size {
			in := address - s.address
			offset, left, ok = s.offset+in, s.size-in, s.offset+in >= in
		}
	}
	return offset, left, ok
}

// dynamic reads what the dynamic section asks for: of several the last counts, as it does for the loader, which knows it by its address.
func (b *object) dynamic(of *image) error {
	var at segment
	for _, s := range b.segments {
		if s.kind == elf.PT_DYNAMIC && s.size != 0 {
			at = s
		}
	}
	if at.size == 0 {
		return nil
	}
	offset, left, ok := b.inFile(at.address)
	if !ok || at.size > left || at.size > maxDynamic {
		return errors.New("bad PT_DYNAMIC")
	}
	table, err := b.r.bytes(offset, int(at.size))
	if err != nil {
		return err
	}
	var names uint64 // where the strings begin
	named := map[elf.DynTag][]uint64{}
	for {
		tag, value, rest, ok := b.entry(table)
		if !ok || tag == elf.DT_NULL {
			break
		}
		table = rest
		switch tag {
		case elf.DT_STRTAB:
			names = value
		case elf.DT_NEEDED, elf.DT_RPATH, elf.DT_RUNPATH:
			named[tag] = append(named[tag], value)
		}
	}
	if len(named[elf.DT_NEEDED]) > maxNeeded {
		return fmt.Errorf("more than %d libraries", maxNeeded)
	}
	for _, x := range []struct {
		tag  elf.DynTag
		into *[]string
	}{{elf.DT_NEEDED, &of.needed}, {elf.DT_RPATH, &of.rpath}, {elf.DT_RUNPATH, &of.runpath}} {
		for _, in := range named[x.tag] {
			s, err := b.text(names + in)
			if err != nil {
				return err
			}
			*x.into = append(*x.into, s)
		}
	}
	return nil
}

// entry takes one entry off a dynamic section.
func (b *object) entry(table []byte) (tag elf.DynTag, value uint64, rest []byte, ok bool) {
	switch {
	case b.class == elf.ELFCLASS64 && len(table) >= 16:
		return elf.DynTag(b.order.Uint64(table)), b.order.Uint64(table[8:]), table[16:], true
	case b.class == elf.ELFCLASS32 && len(table) >= 8:
		return elf.DynTag(b.order.Uint32(table)), uint64(b.order.Uint32(table[4:])), table[8:], true
	}
	return 0, 0, nil, false
}

// text reads the string at an address.
func (b *object) text(address uint64) (string, error) {
	offset, left, ok := b.inFile(address)
	if !ok {
		return "", errors.New("a name is not in the file")
	}
	return b.r.text(offset, min(left, maxName))
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
