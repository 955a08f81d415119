package plan

import (
	"fmt"
	"path"
	"strings"

	"psb/namespaces"
)

// nameServer is where the broker answers inside.
const nameServer = "127.0.0.53"

// etcFiles are made afresh: accounts in use, psb's name server, the kept host name.
func etcFiles(id Identity, h Host) map[string]string {
	clean := func(s string) string {
		return strings.Map(func(r rune) rune {
			if r == ':' || r < ' ' {
				return -1
			}
			return r
		}, s)
	}
	name := "localhost"
	if h.Hostname != "" {
		name += " " + clean(h.Hostname)
	}
	return map[string]string{
		"passwd": fmt.Sprintf("%s:x:%d:%d::%s:%s\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
			clean(id.User), id.UID, id.GID, clean(id.Home), clean(id.Shell)),
		"group":         fmt.Sprintf("%s:x:%d:\nnogroup:x:65534:\n", clean(id.Group), id.GID),
		"hosts":         fmt.Sprintf("127.0.0.1 %s\n::1 %s ip6-localhost\n", name, name),
		"resolv.conf":   "nameserver " + nameServer + "\n" + strings.Join(h.Resolver, ""),
		"nsswitch.conf": "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\nservices: files\nprotocols: files\n",
		"host.conf":     "multi on\n",
		"hostname":      clean(h.Hostname) + "\n",
	}
}

// etc puts the made files in place: in a root of psb's own they are /etc; where the host's /etc is shown (learning) those whose
// content depends on the box are laid over the host's, wherever a link there leads.
func (c *compiler) etc(id Identity, h Host, hostEtc bool) {
	for name, text := range etcFiles(id, h) {
		op := namespaces.Op{Kind: namespaces.OpFile, Mode: 0o644, Data: []byte(text)}
		if !hostEtc {
			c.places.made("/etc/"+name, Read, "made by psb", op)
			continue
		}
		if name == "hostname" {
			continue
		}
		own := path.Join(OwnDir, name)
		o := c.look.Resolve("/etc/" + name)
		switch {
		case below(o.Path, "/run") || below(o.Path, "/tmp"): // private: made there
			c.places.made(o.Path, Read, "made by psb", op)
		case o.Kind == File:
			c.places.made(own, Read, "made by psb", op)
			c.places.made(o.Path, Read, "made by psb", namespaces.Op{Kind: namespaces.OpBindIn, Source: own, ReadOnly: true})
		}
	}
	if !hostEtc {
		c.places.made("/etc", List, "made by psb", namespaces.Op{Kind: namespaces.OpDir, Mode: 0o755})
	}
}

// ResolverLines are the lines of a resolv.conf(5) that say how names are asked for, not whom.
func ResolverLines(conf string) []string {
	var out []string
	for line := range strings.Lines(conf) {
		f := strings.Fields(line)
		if len(f) < 2 || f[0] != "search" && f[0] != "options" && f[0] != "domain" {
			continue
		}
		var words []string
		for _, w := range f[1:] {
			if plainWord(w) && w != "trust-ad" && w != "use-vc" && w != "no-aaaa" {
				words = append(words, w)
			}
		}
		if len(words) > 0 {
			out = append(out, f[0]+" "+strings.Join(words, " ")+"\n")
		}
	}
	return out
}

func plainWord(w string) bool {
	return strings.Trim(w, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:") == ""
}
