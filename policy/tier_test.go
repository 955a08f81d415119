package policy

import (
	"strings"
	"testing"
)

func riskMacros() Macros {
	return Macros{Project: "/h/ann/app", Home: "/h/ann", Cache: "/h/ann/.cache", Config: "/h/ann/.config", Tmp: "/tmp", Venv: "/h/ann/app/.venv", Run: "/run/user/7",
		Getenv: func(string) (string, bool) { return "", false }}
}

func TestRiskOf(t *testing.T) {
	m := riskMacros()
	for _, tc := range []struct{ rule, want string }{
		{"read data/eu.csv", "normal"},
		{"list ./", "normal"},
		{"read static/", "normal"},
		{"write out/sum.csv", "normal"},
		{"create out/", "normal"},
		{"read /usr/share/zoneinfo/", "normal"},
		{"list /", "normal"},
		{"write ${cache}/app/x.json", "normal"},
		{"env RATES_URL", "normal"},
		{"env LC_*", "normal"},
		{"listen 127.0.0.1:5000", "normal"},
		{"listen localhost:0", "normal"},
		{"import flask", "normal"},
		{"eval call:len", "normal"},
		{"eval syntax:arith", "normal"},
		{"eval attribute:upper", "normal"},
		{"never eval call:getattr", "normal"},
		{"hide **/.env", "normal"},
		{"deny *:25", "normal"},
		{"never env RATES_KEY", "normal"},

		{"import ctypes", "warn: a sensitive module !"},
		{"import _ctypes", "warn: a sensitive module !"},
		{"import multiprocessing.pool", "warn: a sensitive module !"},
		{"import *", "warn: every module"},
		{"call threads", "warn: runs code at the same time"},
		{"call os.kill", "warn: signals, ends or re-arranges processes"},
		{"call subprocess.Popen", "warn: starts other programs or copies of this one !"},
		{"call pickle.loads", "warn: builds objects out of bytes, which can run anything !"},
		{"call *", "warn: every sensitive function !"},
		{"eval calc/call:getattr", "warn: leads out of evaluated text !"},
		{"eval call:get*", "warn: every name that fits"},
		{"eval call:x*", "warn: every name that fits"},
		{"eval attribute:format", "warn: its text reads attributes"},
		{"eval magic:__len__", "warn: a name of Python's own in evaluated text !"},
		{"eval import:math", "warn: evaluated text imports a module"},
		{"eval import:socket", "warn: evaluated text imports a module !"},
		{"eval syntax:Import", "warn: evaluated text imports a module"},
		{"read .env", "warn: sensitive !"},
		{"read certs/site.pem", "warn: sensitive !"},
		{"read {name} < ~/.kubeconfig-secret", "warn: sensitive !"},
		{"write out/", "warn: changes a whole tree"},
		{"write app.py", "warn: code or settings"},
		{"write Makefile", "warn: code or settings"},
		{"write sub/pyproject.toml", "warn: code or settings"},
		{"write .github/workflows/build.yml", "warn: code or settings"},
		{"create .vscode/", "warn: code or settings"},
		{"write /srv/x", "warn: changes what lies outside the project"},
		{"create /srv/", "warn: changes what lies outside the project"},
		{"read ~/notes.txt", "warn: outside the project"},
		{"read ${NOWHERE}/x", "warn: outside the project"},
		{"write ~/notes.txt", "warn: in the home folder !"},
		{"exec /usr/bin/uname", "warn: runs a program !"},
		{"device /dev/dri/card0", "warn: a device !"},
		{"env RATES_KEY", "warn: a secret !"},
		{"env LD_PRELOAD", "warn: steers what programs load or run !"},
		{"env *", "warn: every variable that fits"},
		{"connect pypi.org:443", "warn: reaches the network"},
		{"connect *.pypi.org:443", "warn: every host of that name"},
		{"connect *:443", "warn: any host !"},
		{"connect 127.0.0.1:5432", "warn: a server of this machine !"},
		{"connect 10.1.2.3:5432", "warn: an address of the own networks !"},
		{"connect 8.0.0.0/8:53", "warn: a whole network"},
		{"connect ${DB}:5432", "warn: reaches the network"},
		{"private db.corp.example:5432", "warn: leads into the own networks !"},
		{"listen 0.0.0.0:8000", "warn: others on the network can reach it !"},
		{"connect unix:/srv/app.sock", "warn: a server outside the box"},
		{"connect unix:/run/user/7/bus", "warn: commands services outside the box !"},
		{"syscall mlock", "warn: a kernel call beyond the usual"},
		{"call threads", "warn: runs code at the same time"},
		{"import *", "warn: every module"},

		{"read ~/.ssh/id_ed25519", "never: credentials !"},
		{"read ~/.config/", "never: holds credentials !"},
		{"read /etc/shadow", "never: the machine's own secrets !"},
		{"write ~/.bashrc", "never: a start-up file !"},
		{"read ~/.bashrc", "warn: sensitive !"},
		{"write .py-sandboxes", "never: a policy !"},
		{"write .git/hooks/pre-commit", "never: git runs what stands there !"},
		{"write .git/objects/", "warn: changes a whole tree"},
		{"write .venv/lib/x.py", "never: the virtual environment !"},
		{"connect 169.254.169.254:80", "never: a cloud's credentials !"},
		{"connect metadata.google.internal:80", "never: a cloud's credentials !"},
	} {
		r := ruleLine(strings.ReplaceAll(tc.rule, "{name}", "data/x"))
		risk := RiskOf(r, m)
		got := risk.Tier.String()
		if risk.Why != "" {
			got += ": " + risk.Why
		}
		if risk.Mark {
			got += " !"
		}
		if got != tc.want {
			t.Errorf("%s: %q, want %q", tc.rule, got, tc.want)
		}
	}
}

// TestRiskOfFloor: nothing that learning's floor refuses is graded as less, whichever home it stands in.
func TestRiskOfFloor(t *testing.T) {
	m := riskMacros()
	m.Getenv = func(name string) (string, bool) { return "/h/other", name == "HOME" }
	for _, home := range Homes(m) {
		for _, f := range Floor(home) {
			for _, op := range []Op{OpRead, OpWrite, OpExec, OpList, OpCreate} {
				if risk := RiskOf(RuleFor(Access{Op: op, Object: f + "/"}), m); risk.Tier != TierNever {
					t.Errorf("%s %s: %v", op, f, risk)
				}
			}
		}
		for _, f := range Guarded(home) {
			if risk := RiskOf(RuleFor(Access{Op: OpWrite, Object: f}), m); risk.Tier != TierNever {
				t.Errorf("write %s: %v", f, risk)
			}
		}
	}
	if n := len(Homes(m)); n != 2 {
		t.Errorf("%d homes", n)
	}
}
