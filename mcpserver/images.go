package mcpserver

import (
	"bytes"
	"encoding/binary"
)

// mostPixels bounds an image that is shown: beyond it a reader would need more memory than a picture is worth.
const mostPixels = 40 << 20

// shownImage reports whether bytes are an image that clients show: what its own first bytes say, not its name, of a size that can be shown.
func shownImage(mime string, b []byte) bool {
	kind, width, height := imageOf(b)
	return kind == mime && width > 0 && height > 0 && uint64(width)*uint64(height) <= mostPixels
}

// ImageKind is the media type of an image that clients show, "" for anything else.
func ImageKind(b []byte) string {
	kind, _, _ := imageOf(b)
	return kind
}

// imageOf reads what an image says of itself in its head.
func imageOf(b []byte) (kind string, width, height uint32) {
	be, le := binary.BigEndian, binary.LittleEndian
	switch {
	case len(b) >= 24 && bytes.HasPrefix(b, []byte("\x89PNG\r\n\x1a\n")) && string(b[12:16]) == "IHDR":
		return "image/png", be.Uint32(b[16:]), be.Uint32(b[20:])
	case len(b) >= 10 && (bytes.HasPrefix(b, []byte("GIF87a")) || bytes.HasPrefix(b, []byte("GIF89a"))):
		return "image/gif", uint32(le.Uint16(b[6:])), uint32(le.Uint16(b[8:]))
	case len(b) >= 4 && bytes.HasPrefix(b, []byte{0xff, 0xd8, 0xff}):
		w, h := jpegSize(b)
		return "image/jpeg", w, h
	case len(b) >= 30 && bytes.HasPrefix(b, []byte("RIFF")) && string(b[8:12]) == "WEBP":
		w, h := webpSize(b)
		return "image/webp", w, h
	}
	return "", 0, 0
}

// jpegSize walks the segments up to the frame's head.
func jpegSize(b []byte) (width, height uint32) {
	for i := 2; i+9 < len(b); {
		if b[i] != 0xff {
			return 0, 0
		}
		marker := b[i+1]
		if marker == 0xff {
			i++
			continue
		}
		if marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc {
			return uint32(binary.BigEndian.Uint16(b[i+7:])), uint32(binary.BigEndian.Uint16(b[i+5:]))
		}
		i += 2 + int(binary.BigEndian.Uint16(b[i+2:]))
	}
	return 0, 0
}

func webpSize(b []byte) (width, height uint32) {
	le := binary.LittleEndian
	switch string(b[12:16]) {
	case "VP8 ":
		return uint32(le.Uint16(b[26:]) & 0x3fff), uint32(le.Uint16(b[28:]) & 0x3fff)
	case "VP8L":
		v := le.Uint32(b[21:])
		return v&0x3fff + 1, v>>14&0x3fff + 1
	case "VP8X":
		return (uint32(b[24]) | uint32(b[25])<<8 | uint32(b[26])<<16) + 1, (uint32(b[27]) | uint32(b[28])<<8 | uint32(b[29])<<16) + 1
	}
	return 0, 0
}

func extensionOf(mime string) string {
	switch mime {
	case "image/png":
		return ".png"
	case "image/jpeg":
		return ".jpg"
	case "image/gif":
		return ".gif"
	case "image/webp":
		return ".webp"
	case "image/svg+xml":
		return ".svg"
	}
	return ""
}
