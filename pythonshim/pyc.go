package pythonshim

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Compiling the overlay anew costs each start 20 ms and more, the package's evaluated-text engine 60 ms where it is used. So both are compiled
// once: run PycCommand in a box without grants (PycInput on its stdin), take its output apart with PycOutput, and show the overlay's byte code
// in the place of Layout.Pyc, the package's in folders __pycache__ beside its sources.

// maxPyc bounds the bytecode of one text in bytes.
const maxPyc = 1 << 20

// pycScript reads a list of paths and sources on stdin and writes for each a "hash-based, unchecked" .pyc (PEP 552) to stdout, its size before it.
// A path is where the code shall say it comes from. 3.8 to 3.14 have the names it takes from the import system.
const pycScript = `import sys,marshal,_imp
from importlib import _bootstrap_external as b
n=b._RAW_MAGIC_NUMBER if hasattr(b,"_RAW_MAGIC_NUMBER") else _imp.pyc_magic_number_token
for p,s in marshal.loads(sys.stdin.buffer.read()):
 c=b.MAGIC_NUMBER+(1).to_bytes(4,"little")+_imp.source_hash(n,s)+marshal.dumps(compile(s,p,"exec",dont_inherit=True))
 sys.stdout.buffer.write(len(c).to_bytes(4,"little")+c)`

// Source is a text of Python and the path that its byte code names.
type Source struct {
	Path string
	Text []byte
}

// PycCommand gives the arguments, after the interpreter, of the run that compiles: standard input is a PycInput, standard output for PycOutput.
// It executes the interpreter, so it belongs into a box that grants nothing.
func PycCommand() []string {
	return []string{"-I", "-S", "-B", "-c", pycScript}
}

// PycInput gives the bytes that the run reads, in Python's marshal format.
func PycInput(list []Source) []byte {
	var m marshaller
	m.WriteByte('[')
	m.size(len(list))
	for _, s := range list {
		m.WriteByte('(')
		m.size(2)
		m.text(s.Path)
		m.WriteByte('s')
		m.size(len(s.Text))
		m.Write(s.Text)
	}
	return m.Bytes()
}

// PycOutput takes apart what the run wrote for n sources, each checked by [VerifyPyc].
func PycOutput(out []byte, n int, original []byte) ([][]byte, error) {
	list := make([][]byte, 0, n)
	for range n {
		if len(out) < 4 || uint64(binary.LittleEndian.Uint32(out)) > uint64(len(out)-4) {
			return nil, fmt.Errorf("%d of %d files: %w", len(list), n, errPyc)
		}
		end := 4 + int(binary.LittleEndian.Uint32(out))
		code := out[4:end:end]
		if err := VerifyPyc(code, original); err != nil {
			return nil, err
		}
		list, out = append(list, code), out[end:]
	}
	if len(out) > 0 {
		return nil, fmt.Errorf("%d bytes behind the last file: %w", len(out), errPyc)
	}
	return list, nil
}

// PycName gives the file in which the interpreter of l looks for the byte code of a source: "psb/__pycache__/codec.cpython-311.pyc".
func PycName(l Layout, source string) string {
	dir, file := path.Split(source)
	return dir + "__pycache__/" + strings.TrimSuffix(file, ".py") + strings.TrimPrefix(path.Base(l.Pyc), "__init__")
}

var errPyc = errors.New("not the bytecode of the overlay")

// VerifyPyc checks the bytes of one file that came out of that run, which are as hostile as the interpreter: the header must be that of
// an unchecked hash-based file for the interpreter whose cached file is original (the bytes of Layout.Pyc). The code behind it is not
// looked at; it runs nowhere but in boxes of the same interpreter.
func VerifyPyc(out, original []byte) error {
	switch {
	case len(out) < 20 || len(out) > maxPyc:
		return fmt.Errorf("%d bytes: %w", len(out), errPyc)
	case len(original) < 16:
		return fmt.Errorf("the interpreter's own file has %d bytes: %w", len(original), errPyc)
	case !bytes.Equal(out[:4], original[:4]):
		return fmt.Errorf("another interpreter's magic number: %w", errPyc)
	case !bytes.Equal(out[4:8], []byte{1, 0, 0, 0}):
		return fmt.Errorf("flags say it is not hash-based and unchecked: %w", errPyc)
	case out[16]&0x7f != 'c':
		return fmt.Errorf("no code object: %w", errPyc)
	case slices.Equal(out[8:16], make([]byte, 8)):
		return fmt.Errorf("no source hash: %w", errPyc)
	}
	return nil
}
