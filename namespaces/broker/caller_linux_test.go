package broker

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestIDsOfAThread: psb takes the program's ids for a while on other threads than its main one, whose ids are what /proc tells of psb.
func TestIDsOfAThread(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can do this")
	}
	c := caller{uid: 65533, gid: 65532, groups: []uint32{65531}}
	for range 300 {
		must(t, c.as(func() error {
			if unix.Geteuid() != 65533 || unix.Getegid() != 65532 {
				t.Errorf("ids %d, %d", unix.Geteuid(), unix.Getegid())
			}
			if unix.Gettid() == unix.Getpid() {
				t.Error("the main thread took the ids")
			}
			return nil
		}))
	}
	status, err := os.ReadFile("/proc/self/status")
	must(t, err)
	for _, line := range []string{"Uid:\t0\t0\t0\t0\n", "Gid:\t0\t0\t0\t0\n"} {
		if !strings.Contains(string(status), line) {
			t.Errorf("psb is no longer %q:\n%s", line, status)
		}
	}
}
