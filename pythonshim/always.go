package pythonshim

import (
	"path"
	"slices"
	"strings"
)

// Entry is a file or a folder (as a tree) that programs may read without a rule.
type Entry struct {
	Path string // free of links
	Why  string
}

// platform names what C library, TLS and Python expect of any system. Nothing here is secret: no private keys, no
// account data, no host names.
var platform = []Entry{
	{"/etc/ssl/certs", "CA store"},
	{"/etc/ssl/cert.pem", "CA store"},
	{"/etc/ssl/openssl.cnf", "TLS settings"},
	{"/usr/lib/ssl", "TLS settings"},
	{"/etc/crypto-policies", "TLS settings"},
	{"/usr/share/crypto-policies", "TLS settings"},
	{"/usr/share/ca-certificates", "CA store"},
	{"/usr/local/share/ca-certificates", "CA store"},
	{"/etc/ca-certificates", "CA store"},
	{"/etc/pki/tls/certs", "CA store"},
	{"/etc/pki/tls/cert.pem", "CA store"},
	{"/etc/pki/tls/openssl.cnf", "TLS settings"},
	{"/etc/pki/ca-trust/extracted", "CA store"},
	{"/var/lib/ca-certificates", "CA store"},
	{"/usr/share/zoneinfo", "time zones"},
	{"/etc/localtime", "time zone"},
	{"/etc/timezone", "time zone"},
	{"/usr/lib/locale", "locale"},
	{"/usr/share/locale", "locale"},
	{"/usr/share/i18n", "locale"},
	{"/etc/locale.alias", "locale"},
	{"/etc/default/locale", "locale"},
	{"/etc/locale.conf", "locale"},
	{"/usr/lib/x86_64-linux-gnu/gconv", "locale"},
	{"/etc/ld.so.cache", "linked libraries"},
	{"/etc/ld.so.conf", "linked libraries"},
	{"/etc/ld.so.conf.d", "linked libraries"},
	{"/etc/alternatives", "links between programs"},
	{"/etc/mime.types", "file types"},
	{"/usr/share/mime", "file types"},
	{"/etc/services", "port names"},
	{"/etc/protocols", "protocol names"},
	{"/etc/gai.conf", "address selection"},
	{"/usr/share/terminfo", "terminal"},
	{"/lib/terminfo", "terminal"},
	{"/etc/terminfo", "terminal"},
	{"/etc/inputrc", "terminal"},
	{"/etc/os-release", "system name"},
	{"/usr/lib/os-release", "system name"},
	{"/etc/debian_version", "system name"},
	{"/etc/lsb-release", "system name"},
	{"/etc/redhat-release", "system name"},
}

// secret names what may lie beside or below a CA store and is never readable without a rule.
var secret = []string{"/etc/ssl/private", "/etc/pki/tls/private", "/etc/pki/private", "/etc/shadow", "/etc/gshadow"}

// Always lists what of the platform is there on this machine, sorted by path, with the links that lead to it; also the CA
// files that the command's own SSL_CERT_FILE, SSL_CERT_DIR, REQUESTS_CA_BUNDLE and CURL_CA_BUNDLE name, unless such a
// value is "/", the home folder, a folder above it, or secret.
func Always(look Looker) ([]Entry, []Link) {
	w := newWalker(look)
	var out []Entry
	add := func(name, why string) {
		p, st, err := w.real(name)
		if err != nil || !st.IsDir() && !st.Mode().IsRegular() {
			return
		}
		if p == "/" || slices.ContainsFunc(secret, func(s string) bool { return under(p, s) || under(s, p) }) {
			return
		}
		if !slices.ContainsFunc(out, func(e Entry) bool { return e.Path == p }) {
			out = append(out, Entry{p, why})
		}
	}
	for _, e := range platform {
		add(e.Path, e.Why)
	}
	for _, n := range names(look, "/etc") {
		if n == "python" || fullName.MatchString(n) || n == "python3" {
			add(path.Join("/etc", n), "python settings")
		}
	}
	home := path.Clean(look.Getenv("HOME"))
	for _, name := range []string{"SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"} {
		list := []string{look.Getenv(name)}
		if name == "SSL_CERT_DIR" {
			list = strings.Split(list[0], ":")
		}
		for _, v := range list {
			if path.IsAbs(v) && !tooWide(w, v, home) {
				add(path.Clean(v), "CA store, "+name)
			}
		}
	}
	slices.SortFunc(out, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	// The system's CA folders hold links, one for each authority, into other places; a link in an entry counts only when its
	// target is an entry, too, so none is added for what lies inside.
	return out, w.found()
}

// tooWide says whether a folder that a variable names would open the home or more.
func tooWide(w *walker, v, home string) bool {
	p, _, err := w.real(path.Clean(v))
	if err != nil {
		return true
	}
	if real, _, err := w.real(home); path.IsAbs(home) && err == nil {
		home = real
	}
	return strings.Count(p, "/") < 2 || under(home, p)
}
