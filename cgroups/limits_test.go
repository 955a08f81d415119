package cgroups

import (
	"math"
	"reflect"
	"strings"
	"testing"
)

func TestLimitsAsFiles(t *testing.T) {
	for _, c := range []struct {
		name   string
		limits Limits
		v2, v1 string
	}{
		{"nothing", Limits{}, "", ""},
		{"swap alone means nothing", Limits{MemorySwap: 5}, "", ""},
		{"memory without swap", Limits{Memory: 64 << 20},
			"memory.max=67108864 memory.swap.max=0",
			"memory.limit_in_bytes=67108864 memory.memsw.limit_in_bytes=67108864"},
		{"memory and swap", Limits{Memory: 100, MemorySwap: 50},
			"memory.max=100 memory.swap.max=50",
			"memory.limit_in_bytes=100 memory.memsw.limit_in_bytes=150"},
		{"swap without limit", Limits{Memory: 100, MemorySwap: NoLimit},
			"memory.max=100 memory.swap.max=max",
			"memory.limit_in_bytes=100"},
		{"a sum beyond 64 bits is no limit", Limits{Memory: 100, MemorySwap: NoLimit - 1},
			"memory.max=100 memory.swap.max=18446744073709551614",
			"memory.limit_in_bytes=100"},
		{"pids", Limits{PIDs: 20}, "pids.max=20", "pids.max=20"},
		{"cpus", Limits{CPUs: 1.5}, "cpu.max=150000 100000", "cpu.cfs_period_us=100000 cpu.cfs_quota_us=150000"},
		{"a share rounds up", Limits{CPUs: 0.0100001}, "cpu.max=1001 100000", "cpu.cfs_period_us=100000 cpu.cfs_quota_us=1001"},
		{"all", Limits{Memory: 1, PIDs: 2, CPUs: 3},
			"memory.max=1 memory.swap.max=0 pids.max=2 cpu.max=300000 100000",
			"memory.limit_in_bytes=1 memory.memsw.limit_in_bytes=1 pids.max=2 cpu.cfs_period_us=100000 cpu.cfs_quota_us=300000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for want, files := range map[string][]File{"2 " + c.v2: c.limits.FilesV2(), "1 " + c.v1: c.limits.FilesV1()} {
				var got []string
				for _, f := range files {
					got = append(got, f.Name+"="+f.Value)
					if !strings.HasPrefix(f.Name, f.Controller+".") {
						t.Errorf("%s belongs to no controller %s", f.Name, f.Controller)
					}
				}
				if s := want[:2] + strings.Join(got, " "); s != want {
					t.Errorf("v%s, want v%s", s, want)
				}
			}
		})
	}
}

func TestLimitsCheck(t *testing.T) {
	for _, c := range []struct {
		limits Limits
		want   string
	}{
		{Limits{}, ""},
		{Limits{Memory: 1 << 30, MemorySwap: NoLimit, PIDs: 4 << 20, CPUs: 0.01}, ""},
		{Limits{CPUs: 0.001}, "cpus"},
		{Limits{CPUs: -1}, "cpus"},
		{Limits{CPUs: math.NaN()}, "cpus"},
		{Limits{CPUs: math.Inf(1)}, "cpus"},
		{Limits{Memory: NoLimit}, "memory"},
		{Limits{PIDs: 4<<20 + 1}, "pids"},
	} {
		err := c.limits.Check()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want an error about %q", c.limits, err, c.want)
		}
	}
}

func TestFit(t *testing.T) {
	ok := Controller{Version: 2, Dir: "/g", Writable: true}
	no := Controller{Version: 1, Reason: "why", Needs: "remedy"}
	all := Limits{Memory: 100, MemorySwap: 7, PIDs: 3, CPUs: 1}
	for _, c := range []struct {
		name string
		in   Limits
		s    Support
		want Limits
		lost []string
	}{
		{"everything there", all, Support{Controllers: map[string]Controller{memory: ok, pids: ok, cpu: ok}, SwapLimit: true}, all, nil},
		{"nothing asked", Limits{}, Support{}, Limits{}, nil},
		{"nothing there", all, Support{Controllers: map[string]Controller{memory: no, pids: no, cpu: no}}, Limits{}, []string{
			"limits.memory: the memory of the whole tree is not limited: needs remedy (why)",
			"limits.pids: the number of processes is not limited: needs remedy (why)",
			"limits.cpus: processor time is not shared out: needs remedy (why)"}},
		{"no word about the host", Limits{PIDs: 3}, Support{}, Limits{}, []string{
			"limits.pids: the number of processes is not limited: needs a kernel and host with the pids controller"}},
		{"swap cannot be limited", all, Support{Controllers: map[string]Controller{memory: ok, pids: ok, cpu: ok}, HasSwap: true},
			Limits{Memory: 100, MemorySwap: NoLimit, PIDs: 3, CPUs: 1},
			[]string{"limits.memory_swap: swap is not limited, so neither is memory and swap together: needs the kernel boot option swapaccount=1"}},
		{"swap cannot be limited but there is none", Limits{Memory: 100}, Support{Controllers: map[string]Controller{memory: ok}},
			Limits{Memory: 100, MemorySwap: NoLimit}, nil},
		{"swap was not to be limited", Limits{Memory: 100, MemorySwap: NoLimit}, Support{Controllers: map[string]Controller{memory: ok}, HasSwap: true},
			Limits{Memory: 100, MemorySwap: NoLimit}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, lost := c.in.Fit(c.s)
			if got != c.want {
				t.Errorf("limits %+v, want %+v", got, c.want)
			}
			var lines []string
			for _, l := range lost {
				lines = append(lines, l.String())
			}
			if !reflect.DeepEqual(lines, c.lost) {
				t.Errorf("lost %q, want %q", lines, c.lost)
			}
		})
	}
}

func TestNames(t *testing.T) {
	if got := Name(12, 345, 6); got != "psb-12-345-6" {
		t.Errorf("Name = %q", got)
	}
	if pid, start, ok := parseName("psb-12-345-6"); !ok || pid != 12 || start != 345 {
		t.Errorf("parseName = %d, %d, %v", pid, start, ok)
	}
	for _, other := range []string{"", "psb", "psb-12-345", "psb-12-345-6-7", "psb-012-345-6", "psb--1-2-3", "psb-0-345-6", "psb-12-345-+6",
		"psb-12-345--1", "xpsb-12-345-6", "psb-12-x-6", "psb-12-345-6 ", "psb-99999999999999999999-1-1", "../psb-12-345-6"} {
		if _, _, ok := parseName(other); ok {
			t.Errorf("%q was taken for a name of ours", other)
		}
	}
}

func TestParseStat(t *testing.T) {
	tail := " 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 777 20 21\n"
	for _, c := range []struct {
		text  string
		start uint64
		dead  bool
		bad   bool
	}{
		{"12 (psb) S" + tail, 777, false, false},
		{"12 (a) b (c) Z" + tail, 777, true, false},
		{"12 (x\n) S) R" + tail, 777, false, false},
		{"12 (psb) S 1 2", 0, false, true},
		{"", 0, false, true},
	} {
		start, dead, err := parseStat([]byte(c.text))
		if (err != nil) != c.bad || err == nil && (start != c.start || dead != c.dead) {
			t.Errorf("%q: %d, %v, %v", c.text, start, dead, err)
		}
	}
}
