package seccomp

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
)

// cacheVersion changes whenever Build gives other bytes for the same filter.
const cacheVersion = "psb filter 1"

// CacheKey names the program that Build would make of f with libseccomp of the version lib: a hash in hexadecimal, fit for a
// file name.
func CacheKey(f Filter, lib string) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\nlibseccomp %s\n%s", cacheVersion, lib, f)
	return hex.EncodeToString(h.Sum(nil))
}

// ErrCache says that a cached program is not to be used: absent, of the wrong owner or kind, or not what was stored.
var ErrCache = errors.New("seccomp: no usable cached filter")

// seal is the form of a cache file: one line of version, key, architecture and hash, then the program. The hash binds the
// program to the key, so that neither damage nor a file under another name goes unnoticed. It is no signature.
func seal(key string, p Program) []byte {
	return append(sealLine(key, p), p.Bytes...)
}

func sealLine(key string, p Program) []byte {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%s\n%v\n", cacheVersion, key, p.Arch)
	h.Write(p.Bytes)
	return fmt.Appendf(nil, "%s %s %v %x\n", cacheVersion, key, p.Arch, h.Sum(nil))
}

func unseal(key string, file []byte) (Program, error) {
	line, code, ok := bytes.Cut(file, []byte("\n"))
	if !ok {
		return Program{}, fmt.Errorf("%w: not a filter file", ErrCache)
	}
	for _, arch := range []Arch{AMD64, ARM64} {
		p := Program{Arch: arch, Bytes: code}
		if !bytes.Equal(append(line, '\n'), sealLine(key, p)) {
			continue
		}
		if err := p.Validate(); err != nil {
			return Program{}, fmt.Errorf("%w: %w", ErrCache, err)
		}
		return p, nil
	}
	return Program{}, fmt.Errorf("%w: its hash does not fit", ErrCache)
}
