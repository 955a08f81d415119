package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestMCPProfileVariables: of the server's variables a box has those that its profile names, and no other: names that merely look alike, those that the
// profile refuses, and those of the server's own stay outside; what is written into the profile, and what that takes from the server, is there.
func TestMCPProfileVariables(t *testing.T) {
	besideOthers(t)
	each(t, func(t *testing.T, s scene) {
		s.put(t, "home/profiles/empty.py-sandboxes", "version = 1\n")
		s.put(t, "home/profiles/all.py-sandboxes", "version = 1\n[env]\n\"*\" = true\n\"*_KEY\" = false\nLANG = false\n")
		s.put(t, "home/data/in.txt", "in")
		policy := s.put(t, "home/profiles/some.py-sandboxes", `version = 1
[env]
"PSBT_*" = true
EXACT = true
SET = "value"
FROM = "${TAKEN}/x"
ELSE = "${MISSING:-other}"
PSBT_SECRET = false
HOME = true
[files]
"${DATA_FOLDER}/" = "read"
`)
		s.give(t)
		a := s.agentOf(t, call{argv: []string{psb(t), "mcp", "--profiles", filepath.Dir(policy)}, env: []string{"PSBT_A=1", "PSBT_SECRET=s", "PSBT=2", "XPSBT_A=3", "EXACT=4", "EXACTLY=5",
			"EXAC=6", "exact=7", "TAKEN=taken", "DATA_FOLDER=" + s.home + "/data", "ANY_KEY=k", "TZ=Mars/Olympus"}})
		seen := "import os\nown = {'HOME', 'LANG', 'MPLBACKEND', 'MPLCONFIGDIR', 'PATH', 'PYTHONDONTWRITEBYTECODE', 'TMPDIR', 'USER'}\n"
		both := func(profile, code string, texts ...string) {
			t.Helper()
			a.python(seen+code, "profile", profile).want(t, "ok", texts...)
			a.inside(profile, seen+code, "profile", profile).want(t, "ok", texts...)
		}
		const others = "sorted(k + '=' + v for k, v in os.environ.items() if k not in own)"
		both("empty", others+", os.environ['HOME']", "([], '/workspace')")
		both("some", others+", os.environ['HOME']", "(['ELSE=other', 'EXACT=4', 'FROM=taken/x', 'PSBT_A=1', 'SET=value'], '/workspace')")
		both("all", "[os.environ.get(k) for k in ('PSBT', 'EXACTLY', 'TAKEN', 'ANY_KEY', 'LANG', 'HOME', 'USER')]", "['2', '5', 'taken', None, None, '/workspace', 'user']")
		both("default", others, "[]")
		both("default", "import glob\n[p for p in glob.glob('/proc/[0-9]*/environ') if os.access(p, os.R_OK) and b'taken' in open(p, 'rb').read()]", "[]") // nor does any process hold them
		both("some", fmt.Sprintf("open(%q).read()", s.home+"/data/in.txt"), "'in'")
	})
}

// TestMCPProfileFolders: a folder that a profile grants is that folder: no name that looks alike, no link that leads out of it, whoever made the link; links
// that stay inside are followed, and an empty profile grants nothing.
func TestMCPProfileFolders(t *testing.T) {
	besideOthers(t)
	each(t, func(t *testing.T, s scene) {
		data := s.home + "/data"
		for name, text := range map[string]string{"data/in/x.txt": "inside", "data2/y.txt": "alike", "dat": "alike", "secret.txt": "the secret"} {
			s.put(t, "home/"+name, text)
		}
		for link, to := range map[string]string{"absolute": s.home + "/secret.txt", "relative": "../secret.txt", "chain": "absolute", "folder": "..", "good": "in/x.txt", "good absolute": data + "/in/x.txt", "good chain": "good", "process": "/proc/1/environ"} {
			must(t, os.Symlink(to, data+"/"+link))
		}
		s.put(t, "home/profiles/empty.py-sandboxes", "version = 1\n")
		policy := s.put(t, "home/profiles/d.py-sandboxes", "version = 1\n[files]\n\""+data+"/\" = \"write\"\n")
		s.give(t)
		a := s.agent(t, "--profiles", filepath.Dir(policy))
		code := fmt.Sprintf(`import os
home, data = %q, %q
def reads(name):
    try:
        with open(name) as f: return f.read()
    except OSError: return None
ways = [data + '/' + n for n in ('absolute', 'relative', 'chain', 'folder/secret.txt', 'process', '../secret.txt', 'in/../../secret.txt')] + [home + n for n in ('/secret.txt', '/data2/y.txt', '/dat', '/DATA/in/x.txt')]
out = [w for w in ways if reads(w) not in (None, '')]
good = [reads(data + '/' + n) for n in ('in/x.txt', 'good', 'good absolute', 'good chain', 'in/../good', '/in//x.txt')]
`, s.home, data)
		a.python(code+"out, set(good)", "profile", "d").want(t, "ok", "([], {'inside'})")
		a.python(code+"out, set(good)", "profile", "empty").want(t, "ok", "([], {None})")
		a.python(code+"out, set(good)").want(t, "ok", "([], {None})")
		made := code + `
made = []
for i, to in enumerate([home + '/secret.txt', '../secret.txt', '/etc/shadow', home, '/proc/1/root' + home + '/secret.txt']):
    name = '%s/made%d' % (data, i)
    os.symlink(to, name)
    made.append((reads(name), reads(name + '/secret.txt')))
for to in (home + '/secret.txt', data + '/absolute', home + '/data2/y.txt'):
    for follow in (True, False):
        try: os.link(to, data + '/hard', follow_symlinks=follow); made.append((reads(data + '/hard'), None)); os.remove(data + '/hard')
        except (OSError, NotImplementedError): pass
os.symlink('in/x.txt', data + '/made good')
set(made), reads(data + '/made good')`
		a.python(made, "profile", "d").want(t, "ok", "({(None, None)}, 'inside')")
		if b, err := os.ReadFile(s.home + "/secret.txt"); err != nil || string(b) != "the secret" {
			t.Errorf("%q %v", b, err)
		}
	})
}
