package cgroups

import (
	"fmt"
	"strconv"
	"strings"
)

// Name is the name of psb's n-th group: its process id and its start time (field 22 of /proc/PID/stat, in clock ticks
// since boot), which together name one process until the next boot.
func Name(pid int, start uint64, n int) string { return fmt.Sprintf("psb-%d-%d-%d", pid, start, n) }

// wideName is the name of a group that psb's constructor makes: as wide as what stands for it in a launch that is kept.
func wideName(pid int, start uint64, n int) string {
	return fmt.Sprintf("psb-%010d-%020d-%d", pid, start, n)
}

// parseName undoes [Name] and wideName, strictly: a name they would not have made is somebody else's.
func parseName(name string) (pid int, start uint64, ok bool) {
	parts := strings.Split(name, "-")
	if len(parts) != 4 || parts[0] != "psb" {
		return 0, 0, false
	}
	pid, err1 := strconv.Atoi(parts[1])
	start, err2 := strconv.ParseUint(parts[2], 10, 64)
	n, err3 := strconv.Atoi(parts[3])
	if err1 != nil || err2 != nil || err3 != nil || pid < 1 || n < 0 || Name(pid, start, n) != name && wideName(pid, start, n) != name {
		return 0, 0, false
	}
	return pid, start, true
}

// parseStat reads the start time out of the text of /proc/PID/stat, and whether the process is already dead and only waits
// to be reaped. The command before it may hold spaces and parentheses of its own.
func parseStat(text []byte) (start uint64, dead bool, err error) {
	s := string(text)
	f := strings.Fields(s[strings.LastIndexByte(s, ')')+1:])
	if len(f) < 20 {
		return 0, false, fmt.Errorf("/proc/PID/stat: cannot read %q", s)
	}
	start, err = strconv.ParseUint(f[19], 10, 64)
	return start, f[0] == "Z" || f[0] == "X", err
}
