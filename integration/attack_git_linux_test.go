package integration

import (
	"os"
	"path/filepath"
	"testing"
)

func gitAttacks() []attack {
	const hook, venv, start = "plant-for-git", "plant-in-virtual-environment", "plant-start-up-file"
	return []attack{
		{name: "git/hook", claim: hook, policy: mayWriteAll, set: planting(repository, []string{".git/hooks/post-checkout"})},
		{name: "git/new-hook", claim: hook, policy: mayWriteAll, set: planting(repository, []string{".git/hooks"})},
		{name: "git/settings", claim: hook, policy: mayWriteAll, set: planting(repository, []string{".git/config"})},
		{name: "git/work-tree-settings", claim: hook, policy: mayWriteAll, set: planting(repository, []string{".git/config.worktree", ".git/worktrees/wt/commondir", ".git/worktrees/wt/config.worktree"})},
		{name: "git/attributes", claim: hook, policy: mayWriteAll, set: planting(repository, []string{".git/info/attributes"})},
		{name: "git/pointer", claim: hook, policy: mayWriteAll, set: planting(repository, []string{"wt/.git"})},
		{name: "git/hooks-path", claim: hook, policy: mayWriteAll, set: planting(repository, []string{"tools/hooks"}, "tools/hooks/pre-commit", "tools/hooks")},
		{name: "git/submodule", claim: hook, policy: mayWriteAll, set: planting(repository, []string{".git/modules/m"}, ".git/modules/m/config", ".git/modules/m/hooks/post-checkout")},
		{name: "git/move", claim: hook, policy: mayWriteAll, set: planting(repository, []string{".git"}, ".git/config", ".git/hooks/post-checkout")},
		{name: "git/exchange", claim: hook, policy: mayWriteAll, set: planting(repository, []string{".git/hooks"}, ".git/hooks/post-checkout", ".git/hooks", ".git/config")},
		{name: "git/deep", claim: hook, policy: mayWriteAll, set: planting(repository, []string{"a/b/c/.git", "vendor/sub/.git"}, "a/b/c/.git/config", "a/b/c/.git/hooks/post-checkout", "vendor/sub/.git/config", "vendor/sub/.git/hooks/post-checkout")},

		{name: "venv/path-file", claim: venv, policy: mayWriteAll, set: planting(environmentFolder, []string{site}, site, site+"/kept.pth")},
		{name: "venv/customize", claim: venv, policy: mayWriteAll, set: planting(environmentFolder, []string{site})},
		{name: "venv/scripts", claim: venv, policy: mayWriteAll, set: planting(environmentFolder, []string{".venv/bin"}, ".venv/bin/activate", ".venv/bin/pip", ".venv/bin")},
		{name: "venv/python", claim: venv, policy: mayWriteAll, set: planting(environmentFolder, []string{".venv/bin/python3"})},
		{name: "venv/settings", claim: venv, policy: mayWriteAll, set: planting(environmentFolder, []string{".venv/pyvenv.cfg"})},

		{name: "startup/configuration", claim: start, policy: "[files]\n\"{home}/.config/\" = \"write\"\n", set: starting([]string{".config/fish/config.fish", ".config/autostart/a.desktop", ".config/systemd/user/a.service",
			".config/environment.d/a.conf", ".config/git/config"}, false)},
		{name: "startup/new-names", claim: start, policy: "[files]\n\"{home}/.config/\" = \"write\"\n\"{home}/.local/\" = \"write\"\n", set: starting([]string{".config/fish/config.fish", ".config/autostart/a.desktop",
			".config/systemd/a", ".local/bin/ls", ".local/share/systemd/a"}, true)},
		{name: "startup/commands", claim: start, policy: "[files]\n\"{home}/.local/\" = \"write\"\n", set: starting([]string{".local/bin/ls", ".local/share/systemd/user/a.service"}, false)},
	}
}

// planting makes what stands in the project and gives the attack some of its names, relative to the project; nothing watched may change.
func planting(stands func(t *testing.T, s scene) []string, args []string, watched ...string) func(*testing.T, scene) attempt {
	return func(t *testing.T, s scene) attempt {
		t.Helper()
		env := stands(t, s)
		if len(watched) == 0 {
			watched = args
		}
		var paths []string
		for _, name := range watched {
			paths = append(paths, filepath.Join(s.project, name))
		}
		return attempt{args: args, env: env, got: unchanged(t, paths...)}
	}
}

// repository lays out what git takes for one, with a submodule, a work tree, a hooks folder of its own and two more below.
func repository(t *testing.T, s scene) []string {
	t.Helper()
	for _, dir := range []string{".git", ".git/modules/m", "a/b/c/.git", "vendor/sub/.git"} {
		trial{scene: s}.bare(t, dir)
		s.put(t, "home/code/project/"+dir+"/hooks/post-checkout", "#!/bin/sh\n")
	}
	for name, text := range map[string]string{
		".git/config":            "[core]\n\trepositoryformatversion = 0\n\thooksPath = tools/hooks\n[extensions]\n\tworktreeConfig = true\n",
		"tools/hooks/pre-commit": "#!/bin/sh\n", ".git/config.worktree": "# kept\n", ".git/info/attributes": "# kept\n",
		".git/worktrees/wt/HEAD": "ref: refs/heads/main\n", ".git/worktrees/wt/commondir": "../..\n", ".git/worktrees/wt/config.worktree": "# kept\n",
		".git/worktrees/wt/gitdir": s.project + "/wt/.git\n", "wt/.git": "gitdir: ../.git/worktrees/wt\n",
	} {
		s.put(t, "home/code/project/"+name, text)
	}
	s.give(t)
	return nil
}

const site = ".venv/lib/python3/site-packages"

// environmentFolder lays out a virtual environment that the caller has activated.
func environmentFolder(t *testing.T, s scene) []string {
	t.Helper()
	for name, text := range map[string]string{
		".venv/pyvenv.cfg": "home = /usr/bin\nversion = 3\n", ".venv/bin/activate": "# kept\n", ".venv/bin/pip": "#!/bin/sh\n", site + "/kept.pth": "# kept\n",
	} {
		s.put(t, "home/code/project/"+name, text)
	}
	must(t, os.Symlink(systemPython, filepath.Join(s.project, ".venv/bin/python3")))
	s.give(t)
	return []string{"VIRTUAL_ENV=" + filepath.Join(s.project, ".venv")}
}

// starting makes start-up files below the home, and gives the attack them or their folders.
func starting(files []string, folders bool) func(*testing.T, scene) attempt {
	return func(t *testing.T, s scene) attempt {
		t.Helper()
		var args []string
		for _, name := range files {
			path := s.put(t, "home/"+name, "# kept\n")
			if folders {
				path = filepath.Dir(path)
			}
			args = append(args, path)
		}
		s.give(t)
		return attempt{args: args, got: unchanged(t, args...)}
	}
}
