package plan

import (
	"slices"
	"strings"
	"testing"

	"psb/namespaces"
	"psb/policy"
)

// owners gives objects of a fake tree an owner: the longest path that is there counts.
type owners struct {
	fakeTree
	by map[string]uint32
}

func (o owners) Resolve(asked string) Object {
	out := o.fakeTree.Resolve(asked)
	best := -1
	for p, id := range o.by {
		if atOrBelow(out.Path, p) && len(p) > best {
			best, out.UID, out.GID = len(p), id, id
		}
	}
	return out
}

func auditPlan(t *testing.T, tree Look, h Host, project string) *Plan {
	t.Helper()
	p, err := policy.Parse("", []byte("version = 1\n"))
	if err != nil {
		t.Fatal(err)
	}
	m := policy.Macros{Project: project, Home: "/home/u", Cache: "/home/u/.cache"}
	if p, err = p.Expand(m); err != nil {
		t.Fatal(err)
	}
	h.Seccomp, h.Notify, h.UserNS = true, true, true
	h.Identity.Home = "/home/u"
	got, err := Compile(Request{Policy: p, PolicyFiles: []string{project + "/.py-sandboxes"}, Host: h, Command: Command{Exec: "/usr/bin/x", Argv: []string{"x"}, Dir: project},
		Mode: Audit, Macros: m}, tree)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// binds are the acts that show something of the host, by kind.
func binds(p *Plan) (readOnly []string) {
	for _, o := range p.Spec.Ops {
		if o.Kind == namespaces.OpBind && o.ReadOnly && !strings.HasPrefix(o.Target, "/dev") {
			readOnly = append(readOnly, o.Target)
		}
	}
	return readOnly
}

func TestOverlayLayout(t *testing.T) {
	user := Host{Identity: Identity{UID: 1000, GID: 1000}}
	root := Host{Root: true, PlainNS: true}
	mine := map[string]uint32{"/": 0, "/home/u": 1000, "/srv/www/app": 1000, "/tmp/p": 1000}
	tree := fakeTree{"/usr/bin/x": "file", "/etc/passwd": "file", "/home/u/p/f": "file", "/home/u/m/f": "file", "/srv/www/app/f": "file", "/var/tmp": "dir", "/tmp/p/f": "file", "/lib": "link usr/lib"}
	for _, row := range []struct {
		name     string
		host     Host
		mounts   []Mount
		no       map[string]string
		project  string
		overlays []string
		readOnly []string
		gap      string
	}{
		{"user", user, nil, nil, "/home/u/p", []string{"/etc", "/home", "/srv", "/usr", "/var", "/var/tmp"}, nil, ""},
		{"a project that stands below somebody else's folder", user, nil, nil, "/srv/www/app", []string{"/etc", "/home", "/srv", "/srv/www/app", "/usr", "/var", "/var/tmp"}, nil, ""},
		{"a project in the private space", user, nil, nil, "/tmp/p", []string{"/etc", "/home", "/srv", "/tmp/p", "/usr", "/var", "/var/tmp"}, nil, ""},
		{"root, whose box knows the owner of each overlay's root", root, nil, nil, "/home/u/p", []string{"/etc", "/home", "/home/u", "/srv", "/usr", "/var"}, nil, ""},
		{"a mount, as an ordinary user", user, []Mount{{Path: "/"}, {Path: "/home/u/m"}}, nil, "/home/u/p", []string{"/etc", "/home/u/m", "/home/u/p", "/srv", "/usr", "/var", "/var/tmp"},
			[]string{"/home"}, `"/home/u" is read-only: it holds other mounts`},
		{"a mount, as root", root, []Mount{{Path: "/"}, {Path: "/home/u/m"}}, nil, "/home/u/p", []string{"/etc", "/home", "/home/u", "/home/u/m", "/srv", "/usr", "/var"}, nil, ""},
		{"a read-only mount", root, []Mount{{Path: "/"}, {Path: "/home/u/m", ReadOnly: true}}, nil, "/home/u/p", []string{"/etc", "/home", "/home/u", "/srv", "/usr", "/var"}, []string{"/home/u/m"}, ""},
		{"everything is read-only", user, []Mount{{Path: "/", ReadOnly: true}}, nil, "/home/u/p", nil, []string{"/etc", "/home", "/srv", "/usr", "/var"}, "no folder can be overlaid"},
		{"one that the kernel refuses", user, nil, map[string]string{"/home": "invalid argument", "/home/u": "invalid argument"}, "/home/u/p", []string{"/etc", "/home/u/p", "/srv", "/usr", "/var", "/var/tmp"}, []string{"/home"},
			`"/home/u" is read-only: invalid argument`},
	} {
		t.Run(row.name, func(t *testing.T) {
			row.host.Mounts, row.host.NoOverlay = row.mounts, row.no
			p := auditPlan(t, owners{tree, mine}, row.host, row.project)
			if got := slices.Sorted(slices.Values(p.Overlaid)); !slices.Equal(got, row.overlays) {
				t.Errorf("overlays %q, want %q", got, row.overlays)
			}
			if got := binds(p); !slices.Equal(got, row.readOnly) {
				t.Errorf("read-only %q, want %q", got, row.readOnly)
			}
			said := ""
			for _, g := range p.Gaps {
				if g.Name == "overlay" || g.Name == "audit" {
					said += g.Lost + "\n"
				}
			}
			if !strings.Contains(said, row.gap) || row.gap == "" && said != "" {
				t.Errorf("gaps %q, want %q", said, row.gap)
			}
			for _, o := range p.Spec.Ops {
				if o.Kind == namespaces.OpOverlay && (o.UserXattr != (row.host.Root == false) || o.Recursive || o.ReadOnly) {
					t.Errorf("%+v", o)
				}
			}
			if (p.Spec.Upper == 0) != (len(row.overlays) == 0) {
				t.Errorf("%d bytes for %d overlays", p.Spec.Upper, len(row.overlays))
			}
		})
	}
}

// TestOverlayProtectsNothing: in an audit a program may write what is protected otherwise, and psb knows what that is; hidden files stay hidden.
func TestOverlayProtectsNothing(t *testing.T) {
	tree := fakeTree{"/usr/bin/x": "file", "/home/u/p/.git/HEAD": "file", "/home/u/p/.git/hooks/pre-commit": "file", "/home/u/.bashrc": "file", "/home/u/.ssh/id": "file", "/var/tmp": "dir"}
	p := auditPlan(t, owners{tree, map[string]uint32{"/home/u": 1000}}, Host{Identity: Identity{UID: 1000, GID: 1000}}, "/home/u/p")
	for _, want := range []string{"/home/u/.bashrc", "/home/u/p/.git/hooks", "/home/u/p/.py-sandboxes"} {
		if !slices.Contains(p.Protected, want) {
			t.Errorf("%s is not known as protected: %q", want, p.Protected)
		}
	}
	hidden := false
	for _, pl := range p.Places {
		if pl.Guarded {
			t.Errorf("%s is protected", pl.Path)
		}
		hidden = hidden || pl.Hidden && pl.Path == "/home/u/.ssh"
	}
	if !hidden {
		t.Error("the floor is not hidden")
	}
}
