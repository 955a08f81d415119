package integration

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestExportSystemdVerifies: systemd reads every line of the unit, and calls the service well protected.
func TestExportSystemdVerifies(t *testing.T) {
	besideOthers(t)
	if controlOnly() {
		t.Skip("needs psb")
	}
	for _, who := range people() {
		t.Run(who.name, func(t *testing.T) {
			s := newExported(t, who, workshop)
			analyze := tool(t, "systemd-analyze")
			unit := s.put(t, "home/project.service", s.export(t, "systemd").out)
			r := s.run(t, call{argv: []string{analyze, "verify", unit}})
			for line := range strings.Lines(r.err) {
				// A call newer than systemd's libseccomp is left out of the list: refused.
				if strings.HasPrefix(line, unit) && !strings.Contains(line, "Failed to parse system call, ignoring: ") {
					t.Errorf("systemd-analyze verify: %s", line)
				}
			}
			r = s.run(t, call{argv: []string{analyze, "security", "--offline=true", "--threshold=25", unit}})
			if r.code != 0 {
				t.Errorf("exposure above 2.5: %s", r)
			}
		})
	}
}

// TestExportSystemd: a systemd of its own, process 1 of a namespace, runs the exported service; what the policy allows works, and nothing else.
// A unit makes no names, so a folder's are not listed, and takes no text that depends on another variable.
func TestExportSystemd(t *testing.T) {
	besideOthers(t)
	eachExported(t, func(t *testing.T, s exported) {
		if os.Getuid() != 0 {
			ledger.Need(t, "root", errors.New("only root starts a systemd in namespaces"))
		}
		tool(t, "systemd-analyze")
		r := s.export(t, "systemd")
		s.noValues(t, r)
		out := s.underSystemd(t, r.out)
		judge(t, probed(t, out), []string{"passed", "pattern"}, nil)
	})
}

// underSystemd runs a unit and gives what it printed. The manager has its own processes, mounts and control group, and sees no setting of
// the kernel that it could change.
func (s exported) underSystemd(t *testing.T, unit string) string {
	t.Helper()
	const manager = "/lib/systemd/systemd"
	if _, err := os.Stat(manager); err != nil {
		ledger.Need(t, "systemd-analyze", err)
	}
	group := ownGroup(t)
	out := s.put(t, "out", "")
	unitFile := s.put(t, "unit/t.service", unit)
	s.put(t, "unit/t.service.d/test.conf", fmt.Sprintf("[Unit]\nDefaultDependencies=no\nSuccessAction=exit-force\nFailureAction=exit-force\n"+
		"[Service]\nStandardInput=file:%s\nStandardOutput=append:%s\nStandardError=append:%s\n", s.put(t, "in", "given\n"), out, out))
	passwd := s.account(t, "passwd", fmt.Sprintf("scene:x:%d:%d::/:/bin/false", ordinaryID, ordinaryID))
	accounts := filepath.Dir(passwd)
	s.account(t, "group", fmt.Sprintf("scene:x:%d:", ordinaryID))
	script := `set -e
echo $$ >"$1/cgroup.procs"
exec unshare --mount --pid --fork --cgroup --uts --ipc --mount-proc --kill-child sh -ec '
umount -R /sys/fs/cgroup
mount -t cgroup2 none /sys/fs/cgroup
mount --bind -o ro /proc/sys /proc/sys
mount -t tmpfs none /run
mount --bind "$2/passwd" /etc/passwd
mount --bind "$2/group" /etc/group
mkdir -p /run/systemd/system
cp -r "$1"/. /run/systemd/system
shift 2
exec env -i container=psb "$@" ` + manager + ` --unit=t.service --log-target=null --show-status=no' sh "$2" "$3" "${@:4}"`
	argv := append([]string{"bash", "-c", script, "bash", group, filepath.Dir(unitFile), accounts}, s.caller()...)
	r := s.asRoot(t).run(t, call{argv: argv, env: s.caller()})
	b, err := os.ReadFile(out)
	must(t, err)
	if len(b) == 0 {
		t.Fatalf("the service printed nothing: %s", r)
	}
	return string(b)
}

// account writes one of the host's files on accounts with one line more: a service's user must be in them.
func (s exported) account(t *testing.T, name, line string) string {
	t.Helper()
	b, err := os.ReadFile("/etc/" + name)
	must(t, err)
	return s.put(t, "accounts/"+name, strings.TrimSuffix(string(b), "\n")+"\n"+line+"\n")
}

// ownGroup makes a control group of the second version, and takes it away, with what systemd made in it.
func ownGroup(t *testing.T) string {
	t.Helper()
	mounts, err := os.ReadFile("/proc/self/mounts")
	must(t, err)
	m := regexp.MustCompile(`(?m)^\S+ (\S+) cgroup2 `).FindSubmatch(mounts)
	if m == nil {
		ledger.Need(t, "cgroup", errors.New("no cgroup2 is mounted"))
	}
	dir := filepath.Join(string(m[1]), "psb-export-"+strconv.Itoa(os.Getpid())+"-"+random())
	if err := os.Mkdir(dir, 0o755); err != nil {
		ledger.Need(t, "cgroup", err)
	}
	t.Cleanup(func() {
		var folders []string
		_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				folders = append(folders, path)
			}
			return nil
		})
		for i := len(folders) - 1; i >= 0; i-- {
			until(t, "the group "+folders[i]+" is empty", func() bool { return os.Remove(folders[i]) == nil })
		}
	})
	return dir
}
