package landlock

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// asked is a ruleset that asks for everything, with rules that need the newer rights.
func asked() Ruleset {
	r := Everything().DenyNet(PortRule{443, NetConnectTCP | NetConnectSendUDP}, PortRule{53, NetConnectSendUDP})
	r.Paths = []PathRule{
		{Path: "/w", Access: WriteTree},
		{Path: "/f", Access: WriteTree, File: true},
		{Path: "/dev/x", Access: Device, File: true},
		{Path: "/run/s", Access: Socket, File: true},
	}
	return r
}

func TestFitByABI(t *testing.T) {
	const all13 = FSRefer - 1
	scopes := ScopeAbstractUnixSocket | ScopeSignal
	for _, c := range []struct {
		abi    int
		fs     Access
		net    Net
		scopes Scope
		lost   []string
	}{
		{1, all13, 0, 0, []string{"landlock.refer", "landlock.truncate", "landlock.tcp", "landlock.ioctl", "landlock.signal", "landlock.abstract", "landlock.unix", "landlock.udp"}},
		{2, all13 | FSRefer, 0, 0, []string{"landlock.truncate", "landlock.tcp", "landlock.ioctl", "landlock.signal", "landlock.abstract", "landlock.unix", "landlock.udp"}},
		{3, all13 | FSRefer | FSTruncate, 0, 0, []string{"landlock.tcp", "landlock.ioctl", "landlock.signal", "landlock.abstract", "landlock.unix", "landlock.udp"}},
		{4, all13 | FSRefer | FSTruncate, TCP, 0, []string{"landlock.ioctl", "landlock.signal", "landlock.abstract", "landlock.unix", "landlock.udp"}},
		{5, all13 | FSRefer | FSTruncate | FSIoctlDev, TCP, 0, []string{"landlock.signal", "landlock.abstract", "landlock.unix", "landlock.udp"}},
		{6, all13 | FSRefer | FSTruncate | FSIoctlDev, TCP, scopes, []string{"landlock.unix", "landlock.udp"}},
		{7, all13 | FSRefer | FSTruncate | FSIoctlDev, TCP, scopes, []string{"landlock.unix", "landlock.udp"}},
		{8, all13 | FSRefer | FSTruncate | FSIoctlDev, TCP, scopes, []string{"landlock.unix", "landlock.udp"}},
		{9, all13 | FSRefer | FSTruncate | FSIoctlDev | FSResolveUnix, TCP, scopes, []string{"landlock.udp"}},
		{10, all13 | FSRefer | FSTruncate | FSIoctlDev | FSResolveUnix, TCP | UDP, scopes, nil},
		{11, all13 | FSRefer | FSTruncate | FSIoctlDev | FSResolveUnix, TCP | UDP, scopes, nil},
		{99, all13 | FSRefer | FSTruncate | FSIoctlDev | FSResolveUnix, TCP | UDP, scopes, nil},
	} {
		t.Run(fmt.Sprint(c.abi), func(t *testing.T) {
			got, lost := asked().Fit(Support{ABI: c.abi})
			if want := min(c.abi, NewestABI); got.ABI != want {
				t.Errorf("ABI = %d, want %d", got.ABI, want)
			}
			if got.HandledFS != c.fs || got.HandledNet != c.net || got.Scoped != c.scopes {
				t.Errorf("handled %v; %v; %v", got.HandledFS, got.HandledNet, got.Scoped)
			}
			var names []string
			for _, l := range lost {
				names = append(names, l.Name)
				if l.Stricter != (l.Name == "landlock.refer") {
					t.Errorf("%s: Stricter = %v", l.Name, l.Stricter)
				}
			}
			if !reflect.DeepEqual(names, c.lost) {
				t.Errorf("lost %q, want %q", names, c.lost)
			}
			for _, p := range got.Paths {
				if p.Access == 0 || p.Access&^got.HandledFS != 0 {
					t.Errorf("rule on %s holds %v", p.Path, p.Access)
				}
				if p.File && p.Access != ForFile(p.Access) {
					t.Errorf("file rule on %s holds a folder's rights: %v", p.Path, p.Access)
				}
			}
			for _, p := range got.Ports {
				if p.Access == 0 || p.Access&^got.HandledNet != 0 {
					t.Errorf("rule on port %d holds %v", p.Port, p.Access)
				}
			}
			again, more := got.Fit(Support{ABI: c.abi})
			if !reflect.DeepEqual(again, got) || len(more) != 0 {
				t.Errorf("fitted twice: %v, lost %v", again, more)
			}
		})
	}
}

func TestFitDropsRulesWithoutRights(t *testing.T) {
	got, _ := asked().Fit(Support{ABI: 4})
	var paths []string
	for _, p := range got.Paths {
		paths = append(paths, p.Path)
	}
	if want := []string{"/w", "/f", "/dev/x"}; !reflect.DeepEqual(paths, want) {
		t.Errorf("paths %q, want %q", paths, want)
	}
	if want := []PortRule{{443, NetConnectTCP}}; !reflect.DeepEqual(got.Ports, want) {
		t.Errorf("ports %v, want %v", got.Ports, want)
	}
}

func TestFitReportsOnlyWhatWasAsked(t *testing.T) {
	for _, c := range []struct {
		name string
		in   Ruleset
		abi  int
		want []string
	}{
		{"nothing asked", Ruleset{}, 0, nil},
		{"reading only", Ruleset{HandledFS: FSReadFile}, 1, nil},
		{"box with a network of its own", Everything(), 7, []string{"connecting to unix sockets outside by path is not refused: needs Linux 7.1 (Landlock ABI 9)"}},
		{"no rule moves files", Ruleset{HandledFS: FSRefer | FSReadFile, Paths: []PathRule{{Path: "/", Access: ReadTree}}}, 1, nil},
		{"a file cannot need refer", Ruleset{HandledFS: FSRefer | FSReadFile, Paths: []PathRule{{Path: "/f", Access: WriteTree, File: true}}}, 1, nil},
		{"truncate", Ruleset{HandledFS: FSTruncate | FSReadFile}, 2, []string{"truncating files that may only be read is not refused: needs Linux 6.2 (Landlock ABI 3)"}},
		{"ports only", Ruleset{HandledNet: TCP}, 3, []string{"binding and connecting TCP ports is not refused: needs Linux 6.7 (Landlock ABI 4)"}},
		{"one scope", Ruleset{Scoped: ScopeSignal}, 5, []string{"signals to processes outside are not refused: needs Linux 6.12 (Landlock ABI 6)"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, lost := c.in.Fit(Support{ABI: c.abi})
			var lines []string
			for _, l := range lost {
				lines = append(lines, l.String())
			}
			if !reflect.DeepEqual(lines, c.want) {
				t.Errorf("lost %q, want %q", lines, c.want)
			}
			if !got.Enforces() && got.ABI != 0 {
				t.Errorf("restricts nothing yet claims ABI %d", got.ABI)
			}
		})
	}
}

func TestFitWithoutLandlockSaysWhy(t *testing.T) {
	got, lost := asked().Fit(Support{Reason: "not in lsm="})
	if !reflect.DeepEqual(got, Ruleset{}) {
		t.Errorf("ruleset %v, want none", got)
	}
	if len(lost) != 1 || lost[0].Name != "landlock" || !strings.Contains(lost[0].Needs, "not in lsm=") {
		t.Errorf("lost %v", lost)
	}
}

func TestFitLeavesItsArgumentAlone(t *testing.T) {
	r := asked()
	r.Fit(Support{ABI: 1})
	if !reflect.DeepEqual(r, asked()) {
		t.Errorf("changed to %v", r)
	}
}

func TestRulesetPrints(t *testing.T) {
	r := Ruleset{HandledFS: ReadTree | FSWriteFile, HandledNet: TCP, Scoped: ScopeSignal,
		Paths: []PathRule{{Path: "/a b", Access: ReadTree}, {Path: "/f", Access: ReadTree, File: true}}, Ports: []PortRule{{443, NetConnectTCP}}}
	fitted, _ := r.Fit(Support{ABI: 6})
	want := `landlock ABI 6
refused on files: write_file,read_file,read_dir
refused on ports: bind_tcp,connect_tcp
refused towards processes outside: signal
granted on "/a b": read_file,read_dir
granted on "/f": read_file
granted on port 443: connect_tcp
`
	if got := fitted.String(); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	if got := (Ruleset{}).String(); !strings.HasPrefix(got, "landlock: nothing is restricted\n") {
		t.Errorf("empty ruleset prints %q", got)
	}
}
