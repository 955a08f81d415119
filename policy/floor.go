package policy

import "path"

// floorHome are credential stores and the like below the home folder: out of reach even while learning.
var floorHome = []string{
	".ssh", ".aws", ".azure", ".gnupg", ".kube", ".docker", ".netrc", ".pypirc", ".npmrc", ".git-credentials", ".pgpass", ".my.cnf",
	".password-store", ".vault-token", ".terraform.d", ".config/gcloud", ".config/gh", ".config/hub", ".config/git/credentials",
	".config/rclone", ".config/sops", ".config/op", ".config/google-chrome", ".config/chromium", ".config/BraveSoftware", ".mozilla",
	".thunderbird", ".local/share/keyrings", ".local/share/kwalletd", ".bash_history", ".zsh_history", ".python_history", ".psql_history",
	".mysql_history", ".sqlite_history", ".node_repl_history", ".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials",
	".m2/settings.xml", ".gradle/gradle.properties", ".databrickscfg", ".databricks.cfg", ".config/age", ".config/github-copilot", ".config/doctl", ".oci", ".snowflake", ".ssh2", ".claude", ".claude.json",
	".codex", ".electrum", ".bitcoin", ".ethereum", ".config/solana", ".config/heroku", ".config/configstore", ".config/stripe", ".config/fly", ".fly", ".circleci",
	".config/containers/auth.json", ".kaggle", ".pulumi/credentials.json", ".cache/pre-commit", ".boto", ".s3cfg", ".huggingface", ".cache/huggingface/token",
}

// floorSystem are the machine's own secrets.
var floorSystem = []string{
	"/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/sudoers.d", "/etc/ssl/private", "/etc/ssh",
	"/etc/krb5.keytab", "/etc/wireguard", "/etc/NetworkManager/system-connections", "/etc/kubernetes", "/etc/rancher",
	"/var/lib/docker", "/var/lib/containerd", "/var/lib/kubelet", "/var/lib/sss", "/boot",
}

// guardedHome are start-up files: where the home folder is writable they stay as they are.
var guardedHome = []string{
	".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout",
	".kshrc", ".cshrc", ".tcshrc", ".login", ".xprofile", ".xinitrc", ".xsession", ".xsessionrc", ".pam_environment", ".inputrc",
	".vimrc", ".gvimrc", ".vim", ".emacs", ".emacs.d", ".gitconfig", ".config/git", ".config/fish", ".config/autostart",
	".config/systemd", ".config/environment.d", ".config/psb", ".local/share/systemd", ".local/bin", ".pythonrc", ".pythonstartup",
	".tmux.conf", ".screenrc", ".direnvrc", ".envrc",
}

// Floor lists the paths that are hidden even from a learning run, for a home folder.
func Floor(home string) []string {
	out := append([]string(nil), floorSystem...)
	for _, n := range floorHome {
		out = append(out, home+"/"+n)
	}
	return out
}

// Guarded lists the start-up files below a home folder, never writable by a box.
func Guarded(home string) []string {
	out := make([]string, 0, len(guardedHome))
	for _, n := range guardedHome {
		out = append(out, home+"/"+n)
	}
	return out
}

// Homes are the folders whose credential stores the floor covers: the account's home and, where the environment says another, that one.
func Homes(m Macros) []string {
	homes := []string{m.Home}
	if m.Getenv != nil {
		if h, ok := m.Getenv("HOME"); ok && path.IsAbs(h) && path.Clean(h) != m.Home && path.Clean(h) != "/" {
			homes = append(homes, path.Clean(h))
		}
	}
	return homes
}
