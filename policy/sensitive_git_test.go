package policy

import "testing"

func TestSensitiveInGit(t *testing.T) {
	m := Macros{Project: "/p/app", Home: "/h/ann"}
	for name, want := range map[string]bool{
		".git": true, ".git/": true, ".git/hooks/": true, ".git/hooks/pre-commit": true, ".git/config": true, ".git/config.worktree": true,
		".git/modules/": true, ".git/worktrees/": true, ".git/modules/a/b/hooks/x": true, ".git/modules/a/config": true, ".git/worktrees/w/commondir": true,
		".git/info/attributes": true, "sub/.git": true,
		".git/index": false, ".git/HEAD": false, ".git/objects/": false, ".git/modules/a/index": false, ".git/info/exclude": false,
		"modules/": false, "config": false, "hooks/": false, ".gitignore": false, ".gitattributes": false,
	} {
		if got := Sensitive("/p/app/"+name, m); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
