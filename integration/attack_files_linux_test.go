package integration

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

const (
	mayWriteIn  = "[files]\n\"in/\" = \"write\"\n"
	mayReadIn   = "[files]\n\"in/\" = \"read\"\n\"out/\" = \"write\"\n"
	mayReadAll  = "[files]\n\"./\" = \"read\"\n\"private/\" = \"hide\"\n\"**/s.txt\" = \"hide\"\n"
	mayCreate   = "[files]\n\"out/\" = \"create\"\n"
	mayWriteOut = "[files]\n\"out/\" = \"write\"\n"
	mayWriteAll = "[files]\n\"./\" = \"write\"\n"
)

func fileAttacks() []attack {
	const read, write, names, only, hidden = "read-ungranted-file", "write-outside", "list-home", "change-read-only-file", "see-hidden-file"
	const create, device, setID, sockets = "change-what-stood-there", "make-a-device", "set-user-id", "connect-to-a-socket-file"
	plain := func(s scene) []string { return []string{s.outside()} }
	with := func(words ...string) func(scene) []string {
		return func(s scene) []string { return append([]string{s.outside()}, words...) }
	}
	file, private := []string{"in/file"}, "private/secret"
	return []attack{
		{name: "files/link-absolute", claim: read, policy: mayWriteIn, set: reading(with("in/link"))},
		{name: "files/link-relative", claim: read, policy: mayWriteIn, set: reading(with("in/link"))},
		{name: "files/link-chain", claim: read, policy: mayWriteIn, set: reading(with("in/link"))},
		{name: "files/hard-link", claim: read, policy: mayWriteIn, set: reading(with("in/name"))},
		{name: "files/glob-up", claim: read, policy: mayWriteIn, set: reading(func(scene) []string { return nil })},
		{name: "files/folder-descriptors", claim: read, policy: mayWriteIn, set: reading(func(s scene) []string { return []string{s.sibling, s.token + ".txt"} })},
		{name: "files/openat2", claim: read, set: reading(plain)},
		{name: "files/path-descriptor", claim: read, set: reading(plain)},
		{name: "files/handle", claim: read, policy: mayWriteIn, only: "root", set: reading(with("in"))},
		{name: "files/spelling", claim: read, set: reading(plain)},
		{name: "files/import-outside", claim: read, set: func(t *testing.T, s scene) attempt {
			s.put(t, "home/code/sibling/outside_module.py", "print('# "+s.token+"')\n")
			s.give(t)
			return attempt{args: []string{s.sibling, "outside_module"}, got: s.tells("the content of a module")}
		}},
		{name: "files/flip-path", claim: read, policy: mayWriteIn, set: reading(with("in/kept"))},
		{name: "files/swap-link", claim: read, policy: mayWriteIn, set: reading(with("in/kept", "in/link"))},
		{name: "files/swap-folder", claim: read, policy: mayWriteIn, set: reading(func(s scene) []string { return []string{s.sibling, s.token + ".txt", "in/folder"} })},
		{name: "files/child", claim: read, policy: "[files]\n\"/usr/bin/cat\" = \"exec\"\n", set: reading(func(s scene) []string { return []string{"/usr/bin/cat", s.outside()} })},
		{name: "files/machine-code", claim: read, set: reading(plain)},
		{name: "files/proc-links", claim: read, set: reading(plain)},
		{name: "files/link-text", claim: names, set: func(t *testing.T, s scene) attempt {
			link := filepath.Join(s.sibling, "link")
			must(t, os.Symlink("# "+s.token, link))
			return attempt{args: []string{link}, got: s.tells("the text of a link")}
		}},
		{name: "files/size", claim: names, set: func(t *testing.T, s scene) attempt {
			size := 100000 + rand.IntN(900000)
			path := s.put(t, "home/code/sibling/sized", strings.Repeat("x", size))
			s.give(t)
			return attempt{args: []string{path}, got: spells(fmt.Sprint("size ", size), "the size of a file")}
		}},
		{name: "files/walk-up", claim: names, set: func(t *testing.T, s scene) attempt {
			return attempt{got: spells("token-"+s.token, "the names in the home")}
		}},

		{name: "files/rename-out", claim: write, policy: mayWriteIn, set: func(t *testing.T, s scene) attempt {
			s.folders(t, "in")
			fresh := filepath.Join(s.sibling, "new")
			return attempt{args: []string{"in/own", fresh}, got: absent(t, fresh)}
		}},
		{name: "files/rename-in", claim: write, policy: mayWriteIn, set: outsideWith("in/stolen")},
		{name: "files/link-out", claim: write, policy: mayWriteIn, set: func(t *testing.T, s scene) attempt {
			s.folders(t, "in")
			fresh := filepath.Join(s.sibling, "new")
			return attempt{args: []string{fresh, "in/link"}, got: absent(t, fresh)}
		}},
		{name: "files/truncate-outside", claim: write, set: outsideWith()},
		{name: "files/sqlite", claim: write, set: func(t *testing.T, s scene) attempt {
			a, b := filepath.Join(s.sibling, "a.db"), filepath.Join(s.sibling, "b.db")
			return attempt{args: []string{a, b}, got: absent(t, a, b)}
		}},
		{name: "files/dbm", claim: write, set: func(t *testing.T, s scene) attempt {
			base := filepath.Join(s.sibling, "keys")
			return attempt{args: []string{base}, got: absent(t, base+"*")}
		}},
		{name: "files/metadata-outside", claim: write, set: outsideWith()},
		{name: "files/remove-tree", claim: write, policy: mayWriteIn, set: func(t *testing.T, s scene) attempt {
			s.folders(t, "in")
			return attempt{args: []string{s.sibling}, got: unchanged(t, s.sibling, s.outside())}
		}},
		{name: "files/make-names", claim: write, set: func(t *testing.T, s scene) attempt {
			return attempt{args: []string{s.sibling}, got: absent(t, s.sibling+"/made-*")}
		}},
		{name: "files/shared-memory", claim: write, set: func(t *testing.T, s scene) attempt {
			var all []string
			for _, dir := range []string{"/dev/shm/", "/tmp/", "/var/tmp/", "/run/lock/"} {
				all = append(all, dir+s.word)
				t.Cleanup(func() { os.Remove(dir + s.word) })
			}
			return attempt{args: []string{s.word}, got: absent(t, all...)}
		}},

		{name: "readonly/open", claim: only, policy: mayReadIn, set: changing(file, file)},
		{name: "readonly/mode", claim: only, policy: mayReadIn, set: changing(file, file)},
		{name: "readonly/owner", claim: only, policy: mayReadIn, set: changing(file, file)},
		{name: "readonly/times", claim: only, policy: mayReadIn, set: changing(file, file)},
		{name: "readonly/attributes", claim: only, policy: mayReadIn, set: func(t *testing.T, s scene) attempt {
			s.folders(t, "in")
			path := s.put(t, "home/code/project/in/file", "# kept\n")
			if err := unix.Setxattr(path, "user.kept", []byte("1"), 0); err != nil {
				t.Skip("the file system has no attributes: ", err)
			}
			s.give(t)
			return attempt{args: file, got: unchanged(t, path)}
		}},
		{name: "readonly/truncate", claim: only, policy: mayReadIn, set: changing(file, file)},
		{name: "readonly/rename", claim: only, policy: mayReadIn, set: changing(file, []string{"in/file", "out"}, "in/file", "in")},
		{name: "readonly/remove", claim: only, policy: mayReadIn, set: changing(file, file, "in/file", "in")},
		{name: "readonly/make", claim: only, policy: mayReadIn, set: changing(file, []string{"in"}, "in/file", "in")},
		{name: "readonly/reopen", claim: only, policy: mayReadIn, set: changing(file, file)},
		{name: "readonly/hard-link", claim: only, policy: mayReadIn, set: changing(file, []string{"in/file", "out/name"})},
		{name: "readonly/folder-descriptor", claim: only, policy: mayReadIn, set: changing(file, []string{"in"}, "in/file", "in")},
		{name: "readonly/swap", claim: only, policy: mayReadIn, set: changing(file, []string{"in", "out"})},

		{name: "hidden/direct", claim: hidden, policy: mayReadAll, set: hiding(private, private)},
		{name: "hidden/link", claim: hidden, policy: mayReadAll, set: func(t *testing.T, s scene) attempt {
			must(t, os.Symlink(filepath.Join(s.project, private), filepath.Join(s.project, "link")))
			return hiding(private, private, "link")(t, s)
		}},
		{name: "hidden/descriptors", claim: hidden, policy: mayReadAll, set: hiding(private, private)},
		{name: "hidden/spelling", claim: hidden, policy: mayReadAll, set: hiding(private, private)},
		{name: "hidden/bind", claim: hidden, policy: mayReadAll + "\"out/\" = \"write\"\n", set: func(t *testing.T, s scene) attempt {
			at := hiding(private)(t, s)
			at.args, at.control = []string{"private", "secret", "out", "all"}, []string{"private", "secret", "out", "apart"}
			return at
		}},
		{name: "hidden/unmount", claim: hidden, policy: mayReadAll, set: hiding(private, "private", "secret")},
		{name: "hidden/pattern", claim: hidden, policy: mayReadAll, set: hiding("some/where/s.txt")},
		{name: "hidden/move", claim: hidden, policy: "[files]\n\"out/\" = \"write\"\n\"out/private/\" = \"hide\"\n", set: hiding("out/private/secret", "out/private", "secret")},
		{name: "hidden/size", claim: hidden, policy: mayReadAll, set: func(t *testing.T, s scene) attempt {
			size := 100000 + rand.IntN(900000)
			s.put(t, "home/code/project/some/s.txt", strings.Repeat("x", size))
			s.give(t)
			return attempt{args: []string{"some/s.txt"}, got: spells(fmt.Sprint(size), "the size of a hidden file")}
		}},
		{name: "hidden/other-name", policy: mayReadAll, set: func(t *testing.T, s scene) attempt {
			at := hiding("some/s.txt", "some/other")(t, s)
			must(t, os.Link(filepath.Join(s.project, "some/s.txt"), filepath.Join(s.project, "some/other")))
			return at
		}},

		{name: "create/overwrite", claim: create, policy: mayCreate, set: changing([]string{"out/file"}, []string{"out/file"})},
		{name: "create/replace", claim: create, policy: mayCreate, set: changing([]string{"out/file"}, []string{"out/file"})},
		{name: "create/remove", claim: create, policy: mayCreate, set: changing([]string{"out/file", "out/folder/file"}, []string{"out/file", "out/folder"})},
		{name: "create/exchange", claim: create, policy: mayCreate, set: changing([]string{"out/file"}, []string{"out/file"})},
		{name: "create/deeper", claim: create, policy: mayCreate, set: changing([]string{"out/folder/file"}, []string{"out/folder"}, "out/folder/file", "out/folder")},

		{name: "devices/block", claim: device, policy: mayWriteOut, only: "root", set: madeNodes("out/node*")},
		{name: "devices/character", claim: device, policy: mayWriteOut, only: "root", set: madeNodes("out/node*")},
		{name: "devices/present", claim: device, policy: mayWriteOut, set: func(t *testing.T, s scene) attempt {
			s.folders(t, "out")
			node := filepath.Join(s.project, "out/node")
			if err := unix.Mknod(node, unix.S_IFCHR|0o666, int(unix.Mkdev(1, 11))); err != nil { // the kernel's log
				t.Skip("this run can make no node: ", err)
			}
			must(t, os.Chmod(node, 0o666))
			s.give(t)
			return attempt{args: []string{"out/node", s.word}, got: func(result) string {
				if strings.Contains(kernelLog(t), s.word) {
					return "the kernel's log"
				}
				return ""
			}}
		}},
		{name: "set-id/mode", claim: setID, policy: mayWriteOut, set: modes("out/program", "out/program")},
		{name: "set-id/create", claim: setID, policy: mayWriteOut, set: modes("", "out/made")},
		{name: "set-id/folder", claim: setID, policy: mayWriteOut, set: modes("", "out/folder")},
		{name: "set-id/capability", claim: setID, policy: mayWriteOut, only: "root", set: func(t *testing.T, s scene) attempt {
			s.folders(t, "out")
			path := filepath.Join(s.project, "out/kept")
			return attempt{args: []string{"out/kept"}, got: func(result) string {
				if n, err := unix.Getxattr(path, "security.capability", make([]byte, 64)); err == nil {
					return fmt.Sprint("capabilities of ", n, " bytes")
				}
				return ""
			}}
		}},

		{name: "sockets/stream", claim: sockets, policy: mayReadIn, set: func(t *testing.T, s scene) attempt {
			s.folders(t, "in", "out")
			var doors []net.Listener
			for _, path := range []string{"in/socket", "out/socket", "../sibling/socket"} {
				doors = append(doors, listen(t, "unix", filepath.Join(s.project, path)))
				must(t, os.Chmod(filepath.Join(s.project, path), 0o777))
			}
			must(t, os.Symlink(filepath.Join(s.sibling, "socket"), filepath.Join(s.project, "in/link")))
			return attempt{args: []string{"in/socket", "out/socket", "in/link"}, got: func(result) string {
				var open []string
				for _, d := range doors {
					if n := visitors(t, d); n > 0 {
						open = append(open, fmt.Sprintf("%s %d times", d.Addr(), n))
					}
				}
				return strings.Join(open, ", ")
			}}
		}},
		{name: "sockets/datagram", claim: sockets, policy: mayReadIn, set: letters},
		{name: "sockets/send-to", claim: sockets, policy: mayReadIn, set: letters},
		{name: "sockets/send-message", claim: sockets, policy: mayReadIn, set: letters},
	}
}

// spells looks for a text in what the program printed: something that it was not told.
func spells(text, what string) func(result) string {
	return func(r result) string {
		if strings.Contains(r.out, text) {
			return what
		}
		return ""
	}
}

// outsideWith is an attack on the file outside itself.
func outsideWith(more ...string) func(*testing.T, scene) attempt {
	return func(t *testing.T, s scene) attempt {
		t.Helper()
		s.folders(t, "in")
		return attempt{args: append([]string{s.outside()}, more...), got: unchanged(t, s.outside(), s.sibling)}
	}
}

// hiding puts the secret into a file that a rule hides.
func hiding(file string, args ...string) func(*testing.T, scene) attempt {
	return func(t *testing.T, s scene) attempt {
		t.Helper()
		s.folders(t, "kept", "out")
		s.put(t, "home/code/project/"+file, "hidden "+s.token+"\n")
		s.put(t, "home/code/project/other.py", "") // these baits hold the token, too, and the folder around them may be read
		s.put(t, "home/code/project/.env", "")
		s.put(t, "home/code/project/notes/private.txt", "")
		s.give(t)
		return attempt{args: args, got: spells("hidden "+s.token, "the content of a hidden file")}
	}
}

// madeNodes looks for device nodes that were made.
func madeNodes(pattern string) func(*testing.T, scene) attempt {
	return func(t *testing.T, s scene) attempt {
		t.Helper()
		s.folders(t, "out")
		return attempt{args: []string{"out/node"}, got: absent(t, filepath.Join(s.project, pattern))}
	}
}

// modes looks for set-user-ID and set-group-ID bits on whatever has the name at its beginning.
func modes(file, arg string) func(*testing.T, scene) attempt {
	return func(t *testing.T, s scene) attempt {
		t.Helper()
		s.folders(t, "out")
		if file != "" {
			s.put(t, "home/code/project/"+file, "#!/bin/sh\n")
			s.give(t)
		}
		return attempt{args: []string{arg}, got: func(result) string {
			found, err := filepath.Glob(filepath.Join(s.project, arg) + "*")
			must(t, err)
			for _, path := range found {
				if info, err := os.Lstat(path); err == nil && info.Mode()&(os.ModeSetuid|os.ModeSetgid) != 0 {
					return fmt.Sprint(path, " is ", info.Mode())
				}
			}
			return ""
		}}
	}
}

// letters puts datagram sockets of the host into both folders.
func letters(t *testing.T, s scene) attempt {
	t.Helper()
	s.folders(t, "in", "out")
	var boxes []net.PacketConn
	for _, path := range []string{"in/socket", "out/socket"} {
		l, err := net.ListenPacket("unixgram", filepath.Join(s.project, path))
		must(t, err)
		must(t, os.Chmod(filepath.Join(s.project, path), 0o777))
		t.Cleanup(func() { l.Close() })
		boxes = append(boxes, l)
	}
	return attempt{args: []string{"in/socket", "out/socket"}, got: func(result) string {
		var got []string
		for _, b := range boxes {
			if arrives(b) {
				got = append(got, b.LocalAddr().String())
			}
		}
		return strings.Join(got, ", ")
	}}
}
