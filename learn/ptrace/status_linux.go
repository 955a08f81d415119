package ptrace

// Facts of a thread from /proc.
//
// Does to the process: nothing, it reads.
// Can it be undone: nothing to undo.
// Preconditions: /proc shows this process's own pid namespace.
// Called by: tracer_linux.go.
// Proved by: TestExecInThread, TestPrograms.

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// statusField reads a number from /proc/TID/status, the last where there are several (NStgid: one for each pid namespace, the
// thread's own last); 0 when the thread is gone.
func statusField(tid int, field string) int {
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", tid))
	if err != nil {
		return 0
	}
	defer f.Close()
	for sc := bufio.NewScanner(f); sc.Scan(); {
		if rest, ok := strings.CutPrefix(sc.Text(), field); ok {
			words := strings.Fields(rest)
			if len(words) == 0 {
				return 0
			}
			n, _ := strconv.Atoi(words[len(words)-1])
			return n
		}
	}
	return 0
}
