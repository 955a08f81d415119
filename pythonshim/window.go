package pythonshim

import (
	"bytes"
	"errors"
	"io"
	"math"
)

// window reads a file in pieces, each large enough to hold what is wanted next: the header of an ELF file and its program headers are one read, and
// so are the names of its libraries.
type window struct {
	r   io.ReaderAt
	at  uint64 // where buf begins
	n   int    // how much of buf is read
	buf [4096]byte
}

// over begins with another file.
func (w *window) over(r io.ReaderAt) { w.r, w.n = r, 0 }

var errShort = errors.New("it ends before what it speaks of")

// bytes gives n bytes at an offset, until the next call; n is bounded by the caller.
func (w *window) bytes(at uint64, n int) ([]byte, error) {
	if n > len(w.buf) {
		big := make([]byte, n)
		if at > math.MaxInt64 {
			return nil, errShort
		}
		if read, _ := w.r.ReadAt(big, int64(at)); read < n {
			return nil, errShort
		}
		return big, nil
	}
	piece, err := w.piece(at, n)
	if err == nil && len(piece) < n {
		err = errShort
	}
	if err != nil {
		return nil, err
	}
	return piece[:n], nil
}

// piece gives what there is at an offset, n bytes at least unless the file ends before.
func (w *window) piece(at uint64, n int) ([]byte, error) {
	if at < w.at || at-w.at > uint64(w.n) || uint64(w.n)-(at-w.at) < uint64(n) {
		if at > math.MaxInt64 {
			return nil, errShort
		}
		read, err := w.r.ReadAt(w.buf[:], int64(at))
		if err != nil && !errors.Is(err, io.EOF) {
			w.n = 0
			return nil, err
		}
		w.at, w.n = at, read
	}
	return w.buf[at-w.at : w.n], nil
}

// text gives the string that begins at an offset and ends with a zero byte, among the next most bytes.
func (w *window) text(at, most uint64) (string, error) {
	var long []byte
	for {
		piece, err := w.piece(at, 1)
		if err != nil {
			return "", err
		}
		piece = piece[:min(uint64(len(piece)), most-uint64(len(long)))]
		if len(piece) == 0 {
			return "", errShort
		}
		if end := bytes.IndexByte(piece, 0); end >= 0 {
			return string(append(long, piece[:end]...)), nil
		}
		long = append(long, piece...)
		at += uint64(len(piece))
	}
}
