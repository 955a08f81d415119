package main

import (
	"strings"

	"psb/policy"
)

// boxTools are the ordinary programs that a box without a policy of the operator's may start, where the host has them. None of them can do more in
// a box than Python itself: they are here because people, models and libraries expect them.
var boxTools = strings.Fields(`awk base64 basename bash bc bunzip2 bzip2 cat chmod cmp comm cp cut date dd df diff dirname du echo egrep env expand expr false fgrep file find fold
	getconf grep gunzip gzip head hexdump hostname id install jq ln ls md5sum mkdir mktemp mv nl nproc od paste patch printenv printf ps pwd readlink realpath rev rm rmdir
	sed seq sh sha1sum sha256sum shuf sleep sort split stat sum tac tail tar tee test time timeout touch tr true truncate tsort uname uniq unxz unzip wc which whoami xargs xxd xz
	yes zcat zip`)

// boxData is what libraries read outside their own folders on a Debian-like system: public data of the distribution's, fonts above all.
var boxData = []string{"/etc/fonts/", "/etc/matplotlibrc", "/usr/share/fontconfig/", "/usr/share/fonts/", "/usr/share/matplotlib/", "/usr/share/misc/magic.mgc"}

// builtInPolicy is the policy of a box where the operator named none: the interpreter and its packages, private space, the tools above, no file of
// the host, no network, no variable. It is never learned and never widened.
func builtInPolicy(there func(string) bool) string {
	var b strings.Builder
	b.WriteString("version = 1\nlocked = true\n\n[files]\n")
	for _, t := range boxTools {
		if at := "/usr/bin/" + t; there(at) {
			b.WriteString("\"" + at + "\" = \"exec\"\n")
		}
	}
	for _, at := range boxData {
		if there(at) {
			b.WriteString("\"" + at + "\" = \"read\"\n")
		}
	}
	// Rules inside Python explain; they hold nothing that the kernel does not. Here every box is a stranger's, and the kernel's walls are what counts.
	b.WriteString("\n[python.import]\n\"*\" = true\n\n[python.call]\n")
	for _, c := range policy.Registry() {
		b.WriteString("\"" + c.Name + "\" = true\n")
	}
	return b.String()
}

// builtInGaps are what the built-in policy may go on without: a layer that would refuse nothing of what it allows.
var builtInGaps = []string{"python"}
