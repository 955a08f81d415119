package cgroups

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

const (
	hybridMounts = `22 27 0:21 / /proc rw,relatime - proc proc rw
31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 master:3 - cgroup cgroup rw,cpu,cpuacct
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,xattr,memory
39 31 0:36 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids
37 31 0:34 / /sys/fs/cgroup/freezer rw,relatime - cgroup cgroup rw,freezer
40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,xattr,name=systemd
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
`
	hybridGroups = "9:name=systemd:/s\n8:pids:/\n6:freezer:/\n4:memory:/box/a\n2:cpu,cpuacct:/c\n0::/u\n"
	unifiedMount = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
)

// table is a host: control files by path, and the folders in which groups may be made.
type table struct {
	mountinfo, cgroup, cgroups string
	files                      map[string]string
	mine                       []string
	swap                       bool
}

func (h table) probe(t *testing.T) Support {
	t.Helper()
	mounts, err := parseMountinfo([]byte(h.mountinfo))
	if err != nil {
		t.Fatal(err)
	}
	member, err := parseCgroup([]byte(h.cgroup))
	if err != nil {
		t.Fatal(err)
	}
	return facts{
		mounts: mounts, member: member, disabled: parseDisabled([]byte(h.cgroups)), swap: h.swap, self: "77",
		may: func(dir string) error {
			for _, m := range h.mine {
				if m == dir {
					return nil
				}
			}
			return errors.New("not yours: " + dir)
		},
		read: func(file string) (string, error) {
			if text, ok := h.files[file]; ok {
				return text, nil
			}
			return "", errors.New("no file " + file)
		},
	}.support()
}

func TestPlaceV1(t *testing.T) {
	h := table{mountinfo: hybridMounts, cgroup: hybridGroups,
		mine:  []string{"/sys/fs/cgroup/pids", "/sys/fs/cgroup/memory/box/a", "/sys/fs/cgroup/cpu,cpuacct/c"},
		files: map[string]string{"/sys/fs/cgroup/memory/box/a/memory.memsw.limit_in_bytes": "9"}}
	s := h.probe(t)
	if s.Version != Hybrid || !s.SwapLimit {
		t.Errorf("version %s, swap limit %v", s.Version, s.SwapLimit)
	}
	for name, dir := range map[string]string{pids: h.mine[0], memory: h.mine[1], cpu: h.mine[2], cpuacct: h.mine[2]} {
		if want := (Controller{Version: 1, Dir: dir, Writable: true}); s.Controllers[name] != want {
			t.Errorf("%s: %+v, want %+v", name, s.Controllers[name], want)
		}
	}
	if c := s.Controllers[freezer]; c.Writable || c.Reason != "not yours: /sys/fs/cgroup/freezer" || c.Needs != unified {
		t.Errorf("freezer: %+v", c)
	}
}

func TestPlaceV1InContainer(t *testing.T) {
	// Docker without a cgroup namespace shows only the container's part, mounted read-only.
	s := table{mountinfo: "32 31 0:29 /docker/abc /sys/fs/cgroup/memory ro,relatime - cgroup cgroup rw,memory\n" +
		"33 31 0:30 /docker/xyz /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n34 31 0:31 /docker/abc /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n",
		cgroup: "3:memory:/docker/abc\n2:pids:/docker/abc\n1:cpu:/docker/abc/in\n", mine: []string{"/sys/fs/cgroup/memory", "/sys/fs/cgroup/pids", "/sys/fs/cgroup/cpu/in"}}.probe(t)
	if c := s.Controllers[memory]; c.Writable || !strings.Contains(c.Reason, "read-only") {
		t.Errorf("memory: %+v", c)
	}
	if c := s.Controllers[pids]; c.Writable || !strings.Contains(c.Reason, "not shown") {
		t.Errorf("pids: %+v", c)
	}
	if c := s.Controllers[cpu]; !c.Writable || c.Dir != "/sys/fs/cgroup/cpu/in" {
		t.Errorf("cpu: %+v", c)
	}
	if s.Version != V1 {
		t.Errorf("version %s", s.Version)
	}
}

func TestPlaceV2(t *testing.T) {
	const at = "/sys/fs/cgroup"
	const crowded = "not yours: " + at + `; "/sys/fs/cgroup/svc" holds other processes besides psb`
	scope := at + "/user.slice/app.slice/psb.scope"
	for _, c := range []struct {
		name   string
		cgroup string
		mounts string
		files  map[string]string
		mine   []string
		want   map[string]Controller
		leave  string
	}{
		{name: "the root is exempt", cgroup: "0::/\n", mine: []string{at},
			files: map[string]string{at + "/cgroup.controllers": "cpu io memory pids", at + "/cgroup.subtree_control": "memory", at + "/cgroup.procs": "1\n77\n"},
			want: map[string]Controller{memory: {Version: 2, Dir: at, Writable: true}, pids: {Version: 2, Dir: at, Writable: true, enable: true},
				cpu: {Version: 2, Dir: at, Writable: true, enable: true}}},
		{name: "beside its own group", cgroup: "0::/user.slice/app.slice/psb.scope\n", mine: []string{at + "/user.slice/app.slice", scope},
			files: map[string]string{
				at + "/user.slice/app.slice/cgroup.controllers": "cpu memory pids", at + "/user.slice/app.slice/cgroup.subtree_control": "cpu memory pids",
				at + "/user.slice/app.slice/cgroup.type": "domain\n", at + "/user.slice/app.slice/cgroup.procs": "",
				scope + "/cgroup.type": "domain\n", scope + "/cgroup.controllers": "cpu memory pids", scope + "/cgroup.procs": "77\n"},
			want: map[string]Controller{memory: {Version: 2, Dir: at + "/user.slice/app.slice", Writable: true},
				pids: {Version: 2, Dir: at + "/user.slice/app.slice", Writable: true}, cpu: {Version: 2, Dir: at + "/user.slice/app.slice", Writable: true}}},
		{name: "DelegateSubgroup: the parent is empty and may hand down", cgroup: "0::/svc/psb\n", mine: []string{at + "/svc", at + "/svc/psb"},
			files: map[string]string{at + "/svc/cgroup.controllers": "memory pids", at + "/svc/cgroup.type": "domain", at + "/svc/cgroup.procs": "",
				at + "/svc/psb/cgroup.type": "domain", at + "/svc/psb/cgroup.procs": "1\n77\n"},
			want: map[string]Controller{memory: {Version: 2, Dir: at + "/svc", Writable: true, enable: true},
				pids: {Version: 2, Dir: at + "/svc", Writable: true, enable: true},
				cpu:  {Reason: "no hierarchy psb can see offers the controller", Needs: delegation}}},
		{name: "Delegate=yes: alone in its own group", cgroup: "0::/svc\n", mine: []string{at + "/svc"},
			files: map[string]string{at + "/cgroup.controllers": "memory pids cpu", at + "/cgroup.subtree_control": "memory pids cpu",
				at + "/svc/cgroup.controllers": "memory pids cpu", at + "/svc/cgroup.type": "domain", at + "/svc/cgroup.procs": "77\n"},
			want: map[string]Controller{memory: {Version: 2, Dir: at + "/svc", Writable: true, enable: true}, pids: {Version: 2, Dir: at + "/svc", Writable: true, enable: true},
				cpu: {Version: 2, Dir: at + "/svc", Writable: true, enable: true}},
			leave: at + "/svc"},
		{name: "its own group holds others", cgroup: "0::/svc\n", mine: []string{at + "/svc"},
			files: map[string]string{at + "/svc/cgroup.controllers": "memory pids cpu", at + "/svc/cgroup.type": "domain", at + "/svc/cgroup.procs": "5\n77\n"},
			want: map[string]Controller{memory: {Version: 2, Reason: crowded, Needs: delegation}, pids: {Version: 2, Reason: crowded, Needs: delegation},
				cpu: {Version: 2, Reason: crowded, Needs: delegation}}},
		{name: "a threaded parent", cgroup: "0::/a/b\n", mine: []string{at + "/a"},
			files: map[string]string{at + "/a/cgroup.controllers": "memory", at + "/a/cgroup.subtree_control": "memory", at + "/a/cgroup.type": "domain threaded\n",
				at + "/a/b/cgroup.type": "domain\n", at + "/a/b/cgroup.controllers": "memory"},
			want: map[string]Controller{memory: {Version: 2, Reason: `"/sys/fs/cgroup/a" is a domain threaded group; "/sys/fs/cgroup/a/b" holds other processes besides psb`, Needs: delegation},
				pids: {Reason: "no hierarchy psb can see offers the controller", Needs: delegation}, cpu: {Reason: "no hierarchy psb can see offers the controller", Needs: delegation}}},
		{name: "mounted read-only", cgroup: "0::/\n", mounts: strings.Replace(unifiedMount, "rw,nosuid", "ro,nosuid", 1), mine: []string{at},
			files: map[string]string{at + "/cgroup.controllers": "memory pids cpu"},
			want: map[string]Controller{memory: {Version: 2, Reason: `"/sys/fs/cgroup" is mounted read-only`, Needs: delegation},
				pids: {Version: 2, Reason: `"/sys/fs/cgroup" is mounted read-only`, Needs: delegation}, cpu: {Version: 2, Reason: `"/sys/fs/cgroup" is mounted read-only`, Needs: delegation}}},
		{name: "outside the cgroup namespace", cgroup: "0::/../other\n", mine: []string{at}, files: map[string]string{at + "/cgroup.controllers": "memory"},
			want: map[string]Controller{memory: {Reason: "no hierarchy psb can see offers the controller", Needs: delegation},
				pids: {Reason: "no hierarchy psb can see offers the controller", Needs: delegation}, cpu: {Reason: "no hierarchy psb can see offers the controller", Needs: delegation}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			mounts := c.mounts
			if mounts == "" {
				mounts = unifiedMount
			}
			s := table{mountinfo: mounts, cgroup: c.cgroup, files: c.files, mine: c.mine}.probe(t)
			if s.Version != V2 || s.leave != c.leave {
				t.Errorf("version %s, leave %q, want %q", s.Version, s.leave, c.leave)
			}
			if !reflect.DeepEqual(s.Controllers, c.want) {
				t.Errorf("got  %+v\nwant %+v", s.Controllers, c.want)
			}
		})
	}
}

func TestPlaceNothing(t *testing.T) {
	s := table{mountinfo: "22 27 0:21 / /proc rw - proc proc rw\n", cgroup: "", cgroups: "#subsys_name\thierarchy\tnum_cgroups\tenabled\nmemory\t0\t1\t0\npids\t0\t1\t1\n"}.probe(t)
	if s.Version != None || s.Usable() {
		t.Errorf("version %s, usable %v", s.Version, s.Usable())
	}
	if c := s.Controllers[memory]; c.Needs != "the kernel boot option cgroup_enable=memory" {
		t.Errorf("memory: %+v", c)
	}
	if c := s.Controllers[pids]; c.Needs != "cgroup2 mounted on /sys/fs/cgroup" {
		t.Errorf("pids: %+v", c)
	}
}

func TestParseRefusesWhatItCannotRead(t *testing.T) {
	for _, text := range []string{"what\n", "1 2 3 / /x rw cgroup cgroup rw\n", "1 2 3 / /x rw - \n"} {
		if m, err := parseMountinfo([]byte(text)); err == nil {
			t.Errorf("mountinfo %q: %v", text, m)
		}
	}
	for _, text := range []string{"what\n", "1:memory\n", "1:memory:relative\n"} {
		if m, err := parseCgroup([]byte(text)); err == nil {
			t.Errorf("cgroup %q: %v", text, m)
		}
	}
	m, err := parseMountinfo([]byte(`1 2 0:1 /a\040b /mnt/with\040space rw - cgroup2 none rw` + "\n"))
	if err != nil || len(m) != 1 || m[0].point != "/mnt/with space" || m[0].root != "/a b" {
		t.Errorf("escapes: %+v, %v", m, err)
	}
	// A group's path may hold colons.
	g, err := parseCgroup([]byte("0::/a:b\n"))
	if err != nil || g.v2 != "/a:b" {
		t.Errorf("colon: %+v, %v", g, err)
	}
}
