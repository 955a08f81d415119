package cgroups

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Usage is what the tree used and what the kernel refused it. A figure the host cannot give is 0 and its name stands in
// Unknown.
type Usage struct {
	MemoryPeak    uint64        // bytes, the highest since the group was made (v2: Linux 5.19)
	MemoryRefused uint64        // times the tree ran into its memory limit, reclaim included
	OOMKills      uint64        // processes the OOM killer ended
	PIDsPeak      uint64        // processes and threads at once, the most (Linux 6.6)
	PIDsRefused   uint64        // clones refused by the limit
	CPUTime       time.Duration // user and system
	Throttled     uint64        // periods in which the processor quota was used up
	Unknown       []string      // names of the fields above that this host cannot tell, in their order
}

// source is one figure of Usage: in which control file it stands and how it is read.
type source struct {
	field      string
	controller string
	file       string
	read       func(text []byte) (uint64, error)
	store      func(*Usage, uint64)
}

func sources(version int) []source {
	if version == 1 {
		return []source{
			{"MemoryPeak", memory, "memory.max_usage_in_bytes", whole, storePeak},
			// Where memory and swap together meet their limit first, some kernels (6.18) count nothing: 0 says nothing.
			{"MemoryRefused", memory, "memory.failcnt", nonzero, storeRefused},
			{"MemoryRefused", memory, "memory.memsw.failcnt", nonzero, storeRefused},
			{"OOMKills", memory, "memory.oom_control", key("oom_kill"), storeOOM}, // Linux 4.13
			{"PIDsPeak", pids, "pids.peak", whole, storePIDs},
			{"PIDsRefused", pids, "pids.events", key("max"), storePIDsRefused},
			{"CPUTime", cpuacct, "cpuacct.usage", whole, storeNanoseconds},
			{"Throttled", cpu, "cpu.stat", key("nr_throttled"), storeThrottled},
		}
	}
	return []source{
		{"MemoryPeak", memory, "memory.peak", whole, storePeak},
		{"MemoryRefused", memory, "memory.events", key("max"), storeRefused},
		{"OOMKills", memory, "memory.events", key("oom_kill"), storeOOM},
		{"PIDsPeak", pids, "pids.peak", whole, storePIDs},
		{"PIDsRefused", pids, "pids.events", key("max"), storePIDsRefused},
		{"CPUTime", core, "cpu.stat", key("usage_usec"), storeMicroseconds},
		{"Throttled", cpu, "cpu.stat", key("nr_throttled"), storeThrottled},
	}
}

// core stands for what every v2 group tells without any controller.
const core = ""

func storePeak(u *Usage, n uint64)        { u.MemoryPeak = n }
func storeRefused(u *Usage, n uint64)     { u.MemoryRefused += n }
func storeOOM(u *Usage, n uint64)         { u.OOMKills = n }
func storePIDs(u *Usage, n uint64)        { u.PIDsPeak = n }
func storePIDsRefused(u *Usage, n uint64) { u.PIDsRefused = n }
func storeNanoseconds(u *Usage, n uint64) { u.CPUTime = time.Duration(n) }
func storeMicroseconds(u *Usage, n uint64) {
	u.CPUTime = time.Duration(n) * time.Microsecond
}
func storeThrottled(u *Usage, n uint64) { u.Throttled = n }

var fields = []string{"MemoryPeak", "MemoryRefused", "OOMKills", "PIDsPeak", "PIDsRefused", "CPUTime", "Throttled"}

// whole reads a file that holds one number.
func whole(text []byte) (uint64, error) {
	return strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
}

// nonzero reads a counter that is not always counted.
func nonzero(text []byte) (uint64, error) {
	n, err := whole(text)
	if err == nil && n == 0 {
		err = errors.New("not counted")
	}
	return n, err
}

// key reads the number behind one key of a flat-keyed file.
func key(name string) func([]byte) (uint64, error) {
	return func(text []byte) (uint64, error) {
		for line := range bytes.Lines(text) {
			if f := strings.Fields(string(line)); len(f) == 2 && f[0] == name {
				return strconv.ParseUint(f[1], 10, 64)
			}
		}
		return 0, fmt.Errorf("no line %q", name)
	}
}
