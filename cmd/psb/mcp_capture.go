package main

import (
	"io"

	"psb/mcpserver"
)

// capture keeps the beginning and the end of a stream.
type capture struct {
	each    int
	head    []byte
	tail    []byte // at most twice each
	omitted int64
}

func newCapture(each int) *capture { return &capture{each: each} }

// read takes what comes until the end, and passes it on.
func (c *capture) read(r io.Reader, on func([]byte)) {
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		if n > 0 {
			on(buf[:n])
			c.add(buf[:n])
		}
		if err != nil {
			return
		}
	}
}

func (c *capture) add(b []byte) {
	if room := c.each - len(c.head); room > 0 {
		n := min(room, len(b))
		c.head, b = append(c.head, b[:n]...), b[n:]
	}
	if c.tail = append(c.tail, b...); len(c.tail) > 2*c.each {
		drop := len(c.tail) - c.each
		c.tail = append(c.tail[:0:0], c.tail[drop:]...)
		c.omitted += int64(drop)
	}
}

func (c *capture) text() mcpserver.Text {
	if drop := len(c.tail) - c.each; drop > 0 {
		c.tail, c.omitted = c.tail[drop:], c.omitted+int64(drop)
	}
	return mcpserver.Text{Head: c.head, Tail: c.tail, Omitted: c.omitted}
}
