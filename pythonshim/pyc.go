package pythonshim

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
)

// Compiling the overlay anew costs each start 3 to 6 ms. Bytecode saves all but 0.3 to 0.6 ms: run PycCommand in a
// box without grants (the overlay on its stdin), check the output with VerifyPyc, and bind it over Layout.Pyc
// beside the overlay itself.

// maxPyc bounds the bytecode in bytes.
const maxPyc = 1 << 20

// pycScript reads source on stdin and writes a "hash-based, unchecked" .pyc (PEP 552) to stdout. sys.argv[1] is the path the code shall say
// it comes from. 3.8 to 3.14 have the names it takes from the import system.
const pycScript = `import sys,marshal,_imp
from importlib import _bootstrap_external as b
s=sys.stdin.buffer.read()
n=b._RAW_MAGIC_NUMBER if hasattr(b,"_RAW_MAGIC_NUMBER") else _imp.pyc_magic_number_token
c=compile(s,sys.argv[1],"exec",dont_inherit=True)
sys.stdout.buffer.write(b.MAGIC_NUMBER+(1).to_bytes(4,"little")+_imp.source_hash(n,s)+marshal.dumps(c))`

// PycCommand gives the arguments, after the interpreter, of the run that compiles an overlay for l: standard input is
// the overlay, standard output the file. It executes the interpreter, so it belongs into a box that grants nothing.
func PycCommand(l Layout) []string {
	return []string{"-I", "-S", "-B", "-c", pycScript, l.Encodings}
}

var errPyc = errors.New("not the bytecode of the overlay")

// VerifyPyc checks the bytes that came out of that run, which are as hostile as the interpreter: the header must be that of
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
