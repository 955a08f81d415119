package cgroups

import (
	"slices"
	"testing"
)

// TestActs: the acts are the folders Planned names, each before its limits, and the limits are those Create writes.
func TestActs(t *testing.T) {
	s := Support{HasSwap: true, Controllers: map[string]Controller{
		memory: {Version: 1, Dir: "/cg/memory/own", Writable: true}, pids: {Version: 1, Dir: "/cg/pids/own", Writable: true},
	}}
	l := Limits{Memory: 1 << 20, PIDs: 7}
	got, err := Acts(s, "psb-1-2-0", l)
	if err != nil {
		t.Fatal(err)
	}
	want := []Act{
		{Kind: Mkdir, Path: "/cg/memory/own/psb-1-2-0"}, {Write, "/cg/memory/own/psb-1-2-0/memory.limit_in_bytes", "1048576"},
		{Write, "/cg/memory/own/psb-1-2-0/memory.memsw.limit_in_bytes", "1048576"},
		{Kind: Mkdir, Path: "/cg/pids/own/psb-1-2-0"}, {Write, "/cg/pids/own/psb-1-2-0/pids.max", "7"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	if f := Refusals(s, "psb-1-2-0", l); f != "/cg/pids/own/psb-1-2-0/pids.events" {
		t.Error(f)
	}
	if f := Refusals(s, "psb-1-2-0", Limits{Memory: 1}); f != "" {
		t.Error(f)
	}
	s.HasSwap = false
	if got, err = Acts(s, "psb-1-2-0", l); err != nil || len(got) != 4 {
		t.Error(got, err)
	}
	if _, err := Acts(Support{}, "psb-1-2-0", l); err == nil {
		t.Error("acts without a controller")
	}
	if pid, start, ok := parseName(wideName(12, 345, 0)); !ok || pid != 12 || start != 345 {
		t.Error("a group made by the constructor is nobody's: it would never be removed")
	}
}
