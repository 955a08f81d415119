// Does to the process: takes over the folder that a box's overlays write to.
// Undone: closing it.
// Preconditions: Spec.Upper; Ready has returned.
// Called by: cmd/psb, for audits.
// Proved by: TestUpper.

package namespaces

import (
	"errors"
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// keepUpper takes over the folder that the reaper handed out.
func (b *Box) keepUpper(fd int) {
	if fd < 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.upper != nil {
		unix.Close(fd)
		return
	}
	b.upper = os.NewFile(uintptr(fd), "changes of the box")
}

// Upper gives, after Ready, the folder that holds what the overlays were changed to: N/upper is that of the N-th OpOverlay of the Spec, in the
// kernel's own form (Documentation/filesystems/overlayfs.rst). It is readable as long as it is open, and after the box's end nobody changes
// it any more. Names, modes and links in it are the program's. The caller closes it.
func (b *Box) Upper() (*os.File, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.upper == nil {
		return nil, errors.New("the box has no overlays")
	}
	f := b.upper
	b.upper = nil
	return f, nil
}

// ProbeOverlays says why the overlays of a launch cannot be mounted: by target, nothing where all can. It starts and ends empty boxes, one for
// all of them and, where that fails, one for each.
func ProbeOverlays(spec *Spec) map[string]error {
	var all []Op
	for _, o := range spec.Ops {
		if o.Kind == OpOverlay {
			all = append(all, o)
		}
	}
	refused := map[string]error{}
	together := slices.Clone(all)
	for i := range together {
		together[i].Target = "/" + strconv.Itoa(i) // each beside the others: what lies over what does not matter here
	}
	if len(all) == 0 || tryOverlays(spec, together) == nil {
		return refused
	}
	for _, o := range all {
		if err := tryOverlays(spec, []Op{o}); err != nil {
			refused[o.Target] = err
		}
	}
	return refused
}

func tryOverlays(of *Spec, list []Op) error {
	spec := &Spec{Unshare: of.Unshare, LateUser: of.LateUser, UID: of.UID, GID: of.GID, HostUID: of.HostUID, HostGID: of.HostGID, Upper: 1 << 20, Ops: list,
		Root: of.Root, Exec: "/", Argv: []string{"probe"}, Dir: "/"}
	return try(spec)
}
