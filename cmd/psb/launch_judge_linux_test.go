package main

import (
	"fmt"
	"syscall"
	"testing"
)

// TestOutputLimitIsNeverSuccess: a program whose output was cut ends as one that was killed for it, also when it was done just before.
func TestOutputLimitIsNeverSuccess(t *testing.T) {
	for _, tc := range []struct {
		ended   syscall.WaitStatus
		flooded bool
		want    string
	}{
		{0, false, "0 0 exit"},
		{0, true, "137 9 output"},
		{syscall.WaitStatus(syscall.SIGKILL), true, "137 9 output"},
		{3 << 8, true, "3 0 output"},
	} {
		o := outcome{started: true}
		o.exit.Status = tc.ended
		o.judge("", tc.flooded, false)
		if got := fmt.Sprintf("%d %d %s", o.status, int(o.died), o.reason); got != tc.want {
			t.Errorf("%#x, flooded %v: %s, want %s", int(tc.ended), tc.flooded, got, tc.want)
		}
	}
}
