package namespaces

import (
	"os"
	"strings"
	"testing"
)

func TestProbe(t *testing.T) {
	s := Probe()
	if s.Plain != (os.Geteuid() == 0 && Admin()) {
		t.Errorf("plain %v as uid %d", s.Plain, os.Geteuid())
	}
	if s.Namespaces == (s.Reason != "") && !s.Plain {
		t.Errorf("%+v: either it works or there is a reason", s)
	}
	needBox(t)
	if !s.Namespaces || !s.User {
		t.Errorf("%+v, but boxes start here", s)
	}
}

func TestRemedy(t *testing.T) {
	for _, row := range []struct {
		settings Settings
		root     bool
		want     string
	}{
		{Settings{0, 1, 0}, true, "user.max_user_namespaces"},
		{Settings{0, 1, 0}, false, "user.max_user_namespaces"},
		{Settings{100, 0, -1}, false, "unprivileged_userns_clone=1"},
		{Settings{100, 0, -1}, true, ""},
		{Settings{100, -1, 1}, false, "AppArmor"},
		{Settings{100, 1, 0}, false, ""},
	} {
		if got := row.settings.Remedy(row.root); !strings.Contains(got, row.want) || (got == "") != (row.want == "") {
			t.Errorf("%+v root %v: %q, want %q", row.settings, row.root, got, row.want)
		}
	}
}

func TestIDMappable(t *testing.T) {
	for _, row := range []struct {
		fs      int64
		release string
		want    string
	}{
		{0xef53, "5.12.0", ""}, {0xef53, "5.11.9-1", "ext4 knows id-mapped mounts since Linux 5.12"}, {0x01021994, "6.1.0-18-amd64", "tmpfs knows"},
		{0x01021994, "6.3", ""}, {0x9123683e, "5.14", "btrfs"}, {0x6969, "6.18", "file system 0x6969"}, {-0xd0adff0, "6.18.1", ""}, {0xef53, "strange", "kernel release"},
	} {
		err := idMappable(row.fs, row.release)
		if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%#x on %s: %v, want %q", row.fs, row.release, err, row.want)
		}
	}
}
