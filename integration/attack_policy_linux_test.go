package integration

import (
	"os"
	"path/filepath"
	"testing"
)

func policyAttacks() []attack {
	const policy, launcher = "rewrite-policy", "rewrite-launcher"
	own := func(t *testing.T, s scene) attempt {
		path := filepath.Join(s.project, ".py-sandboxes")
		return attempt{args: []string{path}, got: unchanged(t, path)}
	}
	return []attack{
		{name: "policy/append", claim: policy, policy: mayWriteAll, set: own},
		{name: "policy/exchange", claim: policy, policy: mayWriteAll, set: own},
		{name: "policy/hard-link", claim: policy, policy: mayWriteAll, set: own},
		{name: "policy/nameless", claim: policy, policy: mayWriteAll, set: own},
		{name: "policy/reopen", claim: policy, policy: mayWriteAll, set: own},
		{name: "policy/mapped", claim: policy, policy: mayWriteAll, set: own},
		{name: "policy/metadata", claim: policy, policy: mayWriteAll, set: own},
		{name: "policy/link", claim: policy, policy: mayWriteAll, set: own},
		{name: "policy/include", claim: policy, policy: "include = [\"rules/team.toml\", \"more.toml\"]\n" + mayWriteAll, set: func(t *testing.T, s scene) attempt {
			var paths []string
			for _, name := range []string{"rules/team.toml", "more.toml"} {
				paths = append(paths, s.put(t, "home/code/project/"+name, "version = 1\n"))
			}
			s.give(t)
			return attempt{args: paths, got: unchanged(t, paths...)}
		}},

		{name: "launcher/configuration", claim: launcher, policy: "[files]\n\"{home}/.config/\" = \"write\"\n", set: func(t *testing.T, s scene) attempt {
			dir := filepath.Join(s.home, ".config/psb")
			kept := s.put(t, "home/.config/psb/kept", "kept\n")
			s.give(t)
			return attempt{args: []string{dir, s.word}, got: both(unchanged(t, kept), absent(t, dir+"/*.toml", dir+"/*.py-sandboxes"))}
		}},
		{name: "launcher/approvals", claim: launcher, policy: "[files]\n\"{home}/.config/\" = \"write\"\n", set: func(t *testing.T, s scene) attempt {
			dir := filepath.Join(s.home, ".config/psb/approved")
			kept := s.put(t, "home/.config/psb/approved/kept", "kept\n")
			s.give(t)
			return attempt{args: []string{dir, s.word}, got: both(unchanged(t, kept), absent(t, dir+"*/"+s.word+"*"))}
		}},
		{name: "launcher/filters", claim: launcher, policy: "[files]\n\"{home}/.local/\" = \"write\"\n", set: func(t *testing.T, s scene) attempt {
			base := filepath.Join(s.home, ".local/state")
			dir := filepath.Join(base, "psb/filters")
			kept := s.put(t, "home/.local/state/psb/filters/kept", "kept\n")
			s.give(t)
			return attempt{args: []string{dir, s.word}, env: []string{"XDG_STATE_HOME=" + base}, got: both(unchanged(t, kept), absent(t, dir+"/"+s.word))}
		}},
		{name: "launcher/shim", claim: launcher, policy: mayWriteAll, set: func(t *testing.T, s scene) attempt {
			stand := s.put(t, "home/code/project/encodings.py", "\n") // the control leaves the Python of this machine alone
			s.give(t)
			files, err := filepath.Glob("/usr/lib/python3*/encodings/__init__.py")
			must(t, err)
			real := unchanged(t, files...)
			copied := unchanged(t, stand)
			return attempt{control: []string{stand}, got: func(r result) string {
				if controlled := copied(r); controlled != "" {
					return controlled
				}
				return real(r)
			}}
		}},
		{name: "launcher/binary", claim: launcher, policy: mayWriteAll, set: func(t *testing.T, s scene) attempt {
			stand := s.put(t, "home/code/project/stand-in", "\n")
			s.give(t)
			program := stand
			if !controlOnly() {
				program = psb(t)
			}
			if _, err := os.Stat(program); err != nil {
				t.Fatal(err)
			}
			return attempt{args: []string{program}, control: []string{stand}, got: both(unchanged(t, stand), unchanged(t, program))}
		}},
	}
}
