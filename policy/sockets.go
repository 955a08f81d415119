package policy

import "strings"

// SocketPower says what is behind a unix socket that deserves a look before a rule opens it, in words fit for a comment or
// a hint, "signs and decrypts with your keys"; "" for one of which nothing is known. sock is its path, or "@name" for an
// abstract one.
func SocketPower(sock string, m Macros) string {
	low := strings.ToLower(sock)
	for _, s := range socketPowers {
		for _, word := range s.words {
			if strings.Contains(low, word) {
				return s.power
			}
		}
	}
	switch {
	case strings.HasPrefix(sock, "@"):
		return "has no owner: any program may stand behind it"
	case m.Run != "" && within(sock, m.Run):
		return "belongs to your session"
	}
	return ""
}

// socketPowers are looked through in order: what gives most comes first.
var socketPowers = []struct {
	words []string
	power string
}{
	{[]string{"docker", "podman", "containerd", "crio", "libvirt", "lxd", "incus", "snapd"}, "gives away the whole machine: it starts programs outside the box, as root"},
	{[]string{"systemd/journal"}, "writes into the machine's log"},
	{[]string{"systemd", "bus"}, "commands services outside the box"},
	{[]string{"gpg", "ssh", "keyring", "agent"}, "signs and decrypts with your keys"},
	{[]string{"x11", "wayland"}, "sees your screen and types for you"},
}
