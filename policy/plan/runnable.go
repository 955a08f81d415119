package plan

import (
	"path"
	"slices"

	"psb/policy"
)

// libraryFolders and programFolders are the system's own. What an executable's bytes ask for is granted from there only: the bytes may be
// anybody's, and a "library" at ~/.ssh/id_rsa is one line of an ELF file.
var (
	libraryFolders = []string{"/lib", "/lib32", "/lib64", "/libx32", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libx32", "/usr/local/lib", "/usr/local/lib64"}
	programFolders = []string{"/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"}
)

func inside(p string, folders []string) bool {
	return slices.ContainsFunc(folders, func(d string) bool { return below(p, d) })
}

// runnable brings what an executable file needs to start: its ELF interpreter and the system's libraries; for a command that the user
// typed also the interpreter of its #! line. Libraries elsewhere need rules of their own, which learning writes.
func (c *compiler) runnable(o Object, origin policy.Origin) {
	for _, need := range c.host.Linked(o.Path) {
		n := c.look.Resolve(need)
		if n.Kind != File || !inside(n.Path, libraryFolders) && (origin.From != "command line" || !inside(n.Path, programFolders)) {
			continue
		}
		c.places.show(n, Read|Exec, origin, "started by "+path.Base(o.Path))
	}
}
