package main

import (
	"bufio"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"psb/policy/plan"
)

// mountTable gives the caller's mounts.
func mountTable() []plan.Mount {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return nil
	}
	defer f.Close()
	return parseMounts(f)
}

// parseMounts reads proc_pid_mountinfo(5): the fifth field is where, the sixth and the last are options of the mount and of its file system.
func parseMounts(r io.Reader) []plan.Mount {
	var out []plan.Mount
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) < 10 {
			continue
		}
		options := append(strings.Split(f[5], ","), strings.Split(f[len(f)-1], ",")...)
		out = append(out, plan.Mount{Path: unoctal(f[4]), ReadOnly: slices.Contains(options, "ro")})
	}
	return out
}

// unoctal undoes the kernel's \040 and the like.
func unoctal(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
