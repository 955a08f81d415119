package pythonshim

import (
	"debug/elf"
	"fmt"
	"strings"
)

// executable is a file as whoever starts it sees it.
type executable struct {
	kind  executableKind
	line  string // of a script: what stands behind #!
	image image  // of an ELF file
	err   error  // why it cannot be told
}

type executableKind uint8

const (
	isText executableKind = iota // or anything else
	isScript
	isELF
)

// mostHead is how many bytes of a file may hold its #! line; the kernel takes fewer.
const mostHead = 2048

// executable reads a file once.
func (ld *linker) executable(name string) executable {
	if p, ok := ld.known[name]; ok {
		return p
	}
	p := ld.look(name)
	ld.known[name] = p
	return p
}

func (ld *linker) look(name string) executable {
	f, err := ld.w.look.Open(name)
	if err != nil {
		return executable{err: fmt.Errorf("open %q: %w", name, err)}
	}
	defer f.Close()
	ld.window.over(f)
	head, _ := ld.window.piece(0, mostHead) // an unreadable file is as an empty one
	text := string(head[:min(len(head), mostHead)])
	if line, ok := strings.CutPrefix(text, "#!"); ok {
		line, _, _ = strings.Cut(line, "\n")
		return executable{kind: isScript, line: line}
	}
	if !strings.HasPrefix(text, elf.ELFMAG) {
		return executable{}
	}
	p := executable{kind: isELF}
	p.image, p.err = parseELF(&ld.window, name)
	return p
}

// read gives a file that is a program or library.
func (ld *linker) read(name string) (image, bool) {
	p := ld.executable(name)
	return p.image, p.kind == isELF && p.err == nil
}

// readELF is read for one file alone.
func readELF(look Looker, name string) (image, error) {
	ld := linker{w: newWalker(look)}
	p := ld.look(name)
	if p.err == nil && p.kind != isELF {
		p.err = fmt.Errorf("read %q: %w", name, errNotELF)
	}
	return p.image, p.err
}
