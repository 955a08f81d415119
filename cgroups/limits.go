package cgroups

import (
	"fmt"
	"math"
	"strconv"
)

// Limits is what a process tree may use at most. The zero Limits limits nothing.
type Limits struct {
	// Memory in bytes: anonymous memory, page cache, tmpfs and kernel memory charged to the tree. 0 = no limit. Beyond it
	// the kernel's OOM killer ends a process of the tree.
	Memory uint64
	// MemorySwap is the swap in bytes the tree may use on top of Memory; 0 = none at all, [NoLimit] = as much as there is.
	// Without Memory it means nothing.
	MemorySwap uint64
	// PIDs is the number of processes and threads. 0 = no limit. Beyond it clone(2) answers EAGAIN.
	PIDs uint64
	// CPUs is processor time over real time: 1.5 is one and a half processors. 0 = no limit; at least 0.01.
	CPUs float64
}

// NoLimit as Limits.MemorySwap leaves swap unlimited.
const NoLimit = math.MaxUint64

// File is one value to be written into one control file of a group.
type File struct{ Controller, Name, Value string }

const (
	memory  = "memory"
	pids    = "pids"
	cpu     = "cpu"
	cpuacct = "cpuacct" // v1 only
	freezer = "freezer" // v1 only
)

// cpuPeriod is the kernel's default period of the processor quota, and minQuota its smallest quota, in microseconds.
const (
	cpuPeriod = 100_000
	minQuota  = 1_000
)

// FilesV2 are the control files of cgroup v2, in the order of writing.
func (l Limits) FilesV2() []File {
	var out []File
	if l.Memory != 0 {
		out = append(out, File{memory, "memory.max", number(l.Memory)}, File{memory, "memory.swap.max", number(l.MemorySwap)})
	}
	if l.PIDs != 0 {
		out = append(out, File{pids, "pids.max", number(l.PIDs)})
	}
	if l.CPUs != 0 {
		out = append(out, File{cpu, "cpu.max", fmt.Sprintf("%d %d", l.quota(), cpuPeriod)})
	}
	return out
}

// FilesV1 are the control files of cgroup v1, in the order of writing: the sum of memory and swap may never be below the
// memory, so it comes second.
func (l Limits) FilesV1() []File {
	var out []File
	if l.Memory != 0 {
		out = append(out, File{memory, "memory.limit_in_bytes", number(l.Memory)})
		if sum := l.Memory + l.MemorySwap; l.MemorySwap != NoLimit && sum >= l.Memory {
			out = append(out, File{memory, "memory.memsw.limit_in_bytes", number(sum)})
		}
	}
	if l.PIDs != 0 {
		out = append(out, File{pids, "pids.max", number(l.PIDs)})
	}
	if l.CPUs != 0 {
		out = append(out, File{cpu, "cpu.cfs_period_us", strconv.Itoa(cpuPeriod)}, File{cpu, "cpu.cfs_quota_us", strconv.FormatInt(l.quota(), 10)})
	}
	return out
}

// Check tells a value that no kernel can hold.
func (l Limits) Check() error {
	if l.CPUs != 0 && (math.IsNaN(l.CPUs) || l.CPUs < float64(minQuota)/cpuPeriod || l.CPUs > 1<<20) {
		return fmt.Errorf("limit cpus = %v: must be between 0.01 and 1048576", l.CPUs)
	}
	if l.Memory == NoLimit || l.Memory > math.MaxInt64 {
		return fmt.Errorf("limit memory = %d: larger than any kernel counts", l.Memory)
	}
	// PID_MAX_LIMIT of 64-bit kernels; a larger pids.max is refused with EINVAL.
	if l.PIDs > 4<<20 {
		return fmt.Errorf("limit pids = %d: must be at most %d", l.PIDs, 4<<20)
	}
	return nil
}

// quota rounds up to whole microseconds, so that a small share is never none.
func (l Limits) quota() int64 { return int64(math.Ceil(l.CPUs * cpuPeriod)) }

func number(n uint64) string {
	if n == NoLimit {
		return "max"
	}
	return strconv.FormatUint(n, 10)
}
