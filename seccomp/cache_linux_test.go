// What it does to the process: nothing; spoils cache files in a temporary folder.
// Undone: the folder is removed.
// Preconditions: none; root for the wrong-owner row.
// Called by: go test.
// Proven by: itself.

package seccomp

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestCache(t *testing.T) {
	f := Reaper(AMD64)
	p := built(t, f)
	key := CacheKey(f, LibVersion())
	other := CacheKey(Reaper(ARM64), LibVersion())
	if key == other || key == CacheKey(f, "9.9.9") || key != CacheKey(Reaper(AMD64), LibVersion()) {
		t.Fatal("keys do not tell filters and libraries apart")
	}
	spoil := map[string]func(t *testing.T, dir, file string) error{
		"absent":   func(_ *testing.T, _, file string) error { return os.Remove(file) },
		"empty":    func(_ *testing.T, _, file string) error { return os.Truncate(file, 0) },
		"cut":      func(_ *testing.T, _, file string) error { return os.Truncate(file, 200) },
		"writable": func(_ *testing.T, _, file string) error { return os.Chmod(file, 0o620) },
		"link": func(_ *testing.T, _, file string) error {
			return errors.Join(os.Rename(file, file+"x"), os.Symlink(file+"x", file))
		},
		"fifo": func(_ *testing.T, _, file string) error {
			return errors.Join(os.Remove(file), unix.Mkfifo(file, 0o600))
		},
		"folder": func(_ *testing.T, dir, _ string) error { return os.Chmod(dir, 0o777) },
		"owner": func(t *testing.T, _, file string) error {
			if os.Geteuid() != 0 {
				t.Skip("needs root")
			}
			return os.Chown(file, 65534, -1)
		},
		"one bit": func(_ *testing.T, _, file string) error {
			b, err := os.ReadFile(file)
			b[len(b)-1] ^= 1
			return errors.Join(err, os.WriteFile(file, b, 0o600))
		},
		"under another key": func(_ *testing.T, dir, file string) error {
			return errors.Join(Store(dir, other, p), os.Rename(filepath.Join(dir, other), file))
		},
		"another architecture": func(_ *testing.T, _, file string) error {
			b, err := os.ReadFile(file)
			return errors.Join(err, os.WriteFile(file, bytes.Replace(b, []byte("amd64"), []byte("arm64"), 1), 0o600))
		},
	}
	for name, do := range spoil {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "filters")
			if err := Store(dir, key, p); err != nil {
				t.Fatal(err)
			}
			got, err := Load(dir, key)
			if err != nil || !bytes.Equal(got.Bytes, p.Bytes) || got.Arch != p.Arch {
				t.Fatalf("fresh: %v", err)
			}
			if err := do(t, dir, filepath.Join(dir, key)); err != nil {
				t.Fatal(err)
			}
			if got, err := Load(dir, key); !errors.Is(err, ErrCache) || got.Bytes != nil {
				t.Errorf("spoiled: %v, %d bytes", err, len(got.Bytes))
			}
		})
	}
}

func BenchmarkLoad(b *testing.B) {
	f := Enforce(Options{Arch: AMD64, NoteFD: testNote, Listener: true, LandlockABI: 7})
	p, err := f.Build()
	if err != nil {
		b.Fatal(err)
	}
	dir := filepath.Join(b.TempDir(), "filters")
	key := CacheKey(f, LibVersion())
	if err := Store(dir, key, p); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := Load(dir, CacheKey(f, LibVersion())); err != nil {
			b.Fatal(err)
		}
	}
}
