package policy

import (
	"path"
	"slices"
	"strings"
)

// Sensitive says whether an object deserves a human's look before a rule on it is accepted: credentials, keys,
// files that other programs run or obey, sockets that command the machine, metadata addresses, variables that look
// secret. Learning marks such lines with "!", and a hint never offers them ready to paste.
//
// object is an absolute path, an address of [net], or a name. An unknown macro folder only narrows the answer. True
// means "look", false never means "harmless".
func Sensitive(object string, m Macros) bool {
	if sock, ok := strings.CutPrefix(object, "unix:"); ok {
		return SocketPower(sock, m) != ""
	}
	if strings.HasPrefix(object, "/") {
		return sensitivePath(object, m)
	}
	if n, err := parseNet(object); err == nil {
		return sensitiveAddress(n)
	}
	return SecretName(object)
}

// SecretName says whether a variable's name looks as if its value were a secret.
func SecretName(name string) bool {
	up := strings.ToUpper(name)
	for _, whole := range []string{"PGPASSFILE", "SSH_AUTH_SOCK", "GPG_AGENT_INFO", "KUBECONFIG", "DATABASE_URL", "NETRC", "DOCKER_AUTH_CONFIG"} {
		if up == whole {
			return true
		}
	}
	for _, part := range []string{"PASSWORD", "PASSWD", "PASSPHRASE", "SECRET", "TOKEN", "CREDENTIAL", "APIKEY", "PRIVATE_KEY"} {
		if strings.Contains(up, part) {
			return true
		}
	}
	for _, word := range strings.FieldsFunc(up, func(c rune) bool { return c == '_' || c == '-' || c == '.' || c == '*' }) {
		switch word {
		case "KEY", "PASS", "PWD", "AUTH", "COOKIE", "DSN", "PAT", "SAS":
			return up != "PWD" && up != "OLDPWD" // the shell's own: folders
		}
	}
	return false
}

func sensitiveAddress(n netPattern) bool {
	if n.prefix.IsValid() {
		a := n.prefix.Addr()
		return a.IsLinkLocalUnicast() || Metadata(a) || slices.ContainsFunc(metadata, n.prefix.Contains)
	}
	return n.any || strings.HasPrefix(n.name, "metadata.") || MetadataName(n.name)
}

// Folders and files below the home whose content is a credential, or which other programs obey.
var homeSensitive = []string{
	".ssh", ".aws", ".gnupg", ".kube", ".azure", ".docker", ".netrc", "_netrc", ".pgpass", ".my.cnf", ".mylogin.cnf", ".password-store",
	".git-credentials", ".gitconfig", ".hgrc", ".pypirc", ".npmrc", ".yarnrc.yml", ".gem/credentials", ".cargo/credentials", ".cargo/credentials.toml",
	".m2/settings.xml", ".gradle/gradle.properties", ".terraform.d", ".terraformrc", ".vault-token", ".config/gcloud", ".config/gh", ".config/git",
	".config/hub", ".config/glab-cli", ".config/op", ".config/rclone", ".config/sops", ".config/containers/auth.json", ".config/pip", ".pip", ".pydistutils.cfg",
	".local/share/keyrings", ".huggingface", ".cache/huggingface/token", ".netlify", ".boto", ".s3cfg", ".databrickscfg", ".snowsql", ".gnome2/keyrings",
	".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_history", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".zsh_history",
	".python_history", ".psql_history", ".mysql_history", ".node_repl_history", ".lesshst", ".inputrc", ".xinitrc", ".xprofile", ".xsession", ".Xauthority", ".ICEauthority",
	".config/fish", ".config/autostart", ".config/systemd", ".config/environment.d", ".local/share/applications", ".local/share/systemd", ".pam_environment", ".vimrc", ".vim",
	".config/nvim", ".emacs", ".emacs.d", ".tmux.conf", ".screenrc", ".pythonrc", ".pdbrc", ".ipython", ".local/bin", "bin", ".crontab",
	".mozilla", ".thunderbird", ".config/google-chrome", ".config/chromium", ".config/BraveSoftware", ".config/microsoft-edge", ".config/vivaldi", ".config/opera",
	".var/app/org.mozilla.firefox", "snap/firefox", "snap/chromium", ".bitcoin", ".ethereum", ".electrum", ".config/Signal", ".config/Slack", ".config/discord",
	".config/psb", ".claude", ".codex", ".gemini",
}

// Names that mean the same wherever they stand.
var nameSensitive = []string{
	".env", ".env.*", ".envrc", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.ovpn", "*.asc", "*.ppk", "id_rsa*", "id_dsa*", "id_ecdsa*",
	"id_ed25519*", "*credentials*", "*secret*", "service-account*.json", "service_account*.json", ".htpasswd", ".netrc", ".npmrc", ".pypirc", ".pgpass", "terraform.tfstate*",
	"*.tfvars", "cookies.sqlite", "login data", "key4.db", "logins.json", "sitecustomize.py", "usercustomize.py", "*.pth", ".py-sandboxes", ".git-credentials", ".vault_pass*",
}

// Places of the system that hold credentials, or that the machine obeys.
var systemSensitive = []string{
	"/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/sudoers.d", "/etc/ssh", "/etc/ssl/private", "/etc/pki/tls/private", "/etc/kubernetes",
	"/etc/security", "/etc/cron.d", "/etc/crontab", "/etc/krb5.keytab", "/etc/NetworkManager/system-connections", "/etc/wireguard", "/etc/openvpn", "/etc/letsencrypt", "/etc/docker",
	"/etc/ld.so.preload", "/etc/profile", "/etc/profile.d", "/root", "/boot", "/run/secrets", "/var/run/secrets", "/var/lib/kubelet", "/var/lib/docker", "/var/spool/cron",
	"/var/lib/systemd/coredump", "/var/backups", "/dev/mem", "/dev/kmem", "/dev/sda", "/dev/kvm", "/dev/uinput", "/dev/input", "/dev/disk",
}

// sensitiveInGit says whether git runs programs, or finds other settings, by what stands at a path below .git; submodules and work trees are
// repositories of their own.
func sensitiveInGit(rest []string) bool {
	if len(rest) == 0 {
		return true
	}
	for _, e := range rest {
		if e == "hooks" {
			return true
		}
	}
	switch rest[len(rest)-1] {
	case "config", "config.worktree", "commondir", "gitdir":
		return true
	case "modules", "worktrees":
		return len(rest) == 1
	case "attributes":
		return len(rest) > 1 && rest[len(rest)-2] == "info"
	}
	return false
}

func sensitivePath(object string, m Macros) bool {
	obj := path.Clean(object)
	home := ""
	if m.Home != "" && m.Home != "/" && within(obj, m.Home) {
		home = strings.TrimPrefix(obj[len(m.Home):], "/")
		for _, s := range homeSensitive {
			if home != "" && home[0] == s[0] && within(home, s) {
				return true
			}
		}
	}
	if m.Config != "" && within(obj, m.Config+"/psb") {
		return true
	}
	for _, s := range systemSensitive {
		// root's own home may be the user's, and a project may lie in it
		if within(obj, s) && !(m.Home == s && obj != s) {
			return true
		}
	}
	lower := strings.ToLower(obj)
	if strings.Contains(lower, "/.") {
		elems := strings.Split(lower, "/")
		for i, e := range elems {
			if e == ".git" && sensitiveInGit(elems[i+1:]) {
				return true
			}
			if e == ".ssh" || e == ".gnupg" || e == ".aws" {
				return true
			}
		}
	}
	last := lower[strings.LastIndexByte(lower, '/')+1:]
	for _, s := range nameSensitive {
		if last != "" && (s[0] == '*' || s[0] == last[0]) && globName(s, last) {
			return last != ".env.example" && last != ".env.sample" && last != ".env.template"
		}
	}
	return strings.HasPrefix(obj, "/proc/") && (last == "environ" || last == "mem")
}
