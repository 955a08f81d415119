package namespaces

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
)

// TestDecodeSanitized gives the decoder, built with the compiler's sanitizers, launches that nobody encoded. PSB_FUZZ_SECONDS makes it as
// long as one likes; without it, it is bounded by executions and always the same.
func TestDecodeSanitized(t *testing.T) {
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skipf("no C compiler: %v", err)
	}
	dir := t.TempDir()
	target := filepath.Join(dir, "fuzz")
	object, sanitize := filepath.Join(dir, "decode.o"), "-fsanitize=address,undefined"
	for _, args := range [][]string{ // only the decoder's own edges count
		{"-c", "-O1", "-g", sanitize, "-fno-sanitize-recover=all", "-fsanitize-coverage=trace-pc", "-o", object, "decode_linux.c"},
		{"-O1", "-g", sanitize, "-fno-sanitize-recover=all", "-o", target, object, "testdata/fuzz_decode.c"},
	} {
		if out, err := exec.Command(cc, args...).CombinedOutput(); err != nil {
			t.Skipf("%s has no sanitizers: %v\n%s", cc, err, out)
		}
	}
	lite := *everything(t)
	lite.Unshare, lite.Ops, lite.Upper, lite.Hostname, lite.Loopback, lite.LateUser, lite.Root = Set{}, nil, 0, "", false, false, ""
	lite.HostUID, lite.HostGID = lite.UID, lite.GID
	lite.CgroupProcs, lite.CgroupDirs = []string{"/sys/fs/cgroup/a/cgroup.procs"}, []string{"/sys/fs/cgroup/a"}
	lite.Landlock = &Landlock{Rules: []LandlockRule{{Path: "/a", Access: 1}, {Path: "/b/c", Access: 1 << 40}}}
	var seeds []string
	for _, s := range []*Spec{everything(t), &lite} {
		blob, err := Encode(s)
		if err != nil {
			t.Fatal(err)
		}
		seeds = append(seeds, filepath.Join(dir, strconv.Itoa(len(seeds))))
		if err := os.WriteFile(seeds[len(seeds)-1], blob, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	executions, seconds, seed := "20000", "3600", "1"
	if given := os.Getenv("PSB_FUZZ_SECONDS"); given != "" {
		executions, seconds, seed = "18446744073709551615", given, strconv.Itoa(os.Getpid())
	}
	finding := filepath.Join(dir, "finding")
	run := exec.Command(target, append([]string{finding, seed, executions, seconds}, seeds...)...)
	run.Env = append(os.Environ(), "ASAN_OPTIONS=detect_leaks=0")
	out, err := run.CombinedOutput()
	if err != nil {
		blob, _ := os.ReadFile(finding)
		t.Fatalf("seed %s: %v\n%s\nthe launch, behind its length: %x", seed, err, out, blob)
	}
	t.Logf("seed %s: %s", seed, out)
}
