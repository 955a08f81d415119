package main

import (
	"bytes"
	"io"
	"os"
	"sync/atomic"
	"testing"
)

// TestOutputKeepsItsPlace: what was printed before a flood on the other stream comes through, and no more than the limit does in all.
func TestOutputKeepsItsPlace(t *testing.T) {
	const most = 16 << 10
	for range 50 {
		for first := 1; first <= 2; first++ {
			o := &output{most: most}
			var far, near [3]*os.File
			for i := 1; i <= 2; i++ {
				r, w, err := os.Pipe()
				if err != nil {
					t.Fatal(err)
				}
				far[i], near[i] = r, w
			}
			ends, err := o.pipes(near)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := ends[first].WriteString("started"); err != nil {
				t.Fatal(err)
			}
			if _, err := ends[3-first].Write(make([]byte, 32<<10)); err != nil {
				t.Fatal(err)
			}
			var killed atomic.Int32
			o.begin(func() { killed.Add(1) })
			o.end()
			near[1].Close()
			near[2].Close()
			said, _ := io.ReadAll(far[first])
			flood, _ := io.ReadAll(far[3-first])
			far[1].Close()
			far[2].Close()
			if !bytes.Equal(said, []byte("started")) || len(flood) != most-len(said) || killed.Load() != 1 || !o.exceeded() {
				t.Fatalf("%q, then %d bytes; killed %d times", said, len(flood), killed.Load())
			}
		}
	}
}
