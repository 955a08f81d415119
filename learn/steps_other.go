package learn

import (
	"maps"
	"slices"

	"psb/policy"
)

// environment proposes the variables that were read by name and are set outside. It is the one thing taken from notes alone.
func (l *ladder) environment() {
	for _, name := range slices.Sorted(maps.Keys(l.set.env)) {
		r := l.set.env[name]
		if !variableName(name) {
			continue
		}
		if l.k.SetEnv == nil || !l.k.SetEnv(name) {
			if !r.set {
				l.report.Unset = append(l.report.Unset, name)
			}
			continue
		}
		l.grant(policy.OpEnv, name, false, r.because).Text = name
	}
}

// variableName accepts what a shell would: a note may hold anything.
func variableName(s string) bool {
	for i, r := range s {
		if !(r == '_' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || i > 0 && r >= '0' && r <= '9') {
			return false
		}
	}
	return s != "" && len(s) <= 256
}

// syscalls proposes the calls outside the base set that ran. Those the floor refused are not among them.
func (l *ladder) syscalls() {
	for name := range l.set.calls {
		if _, err := policy.ParseAccess("syscall " + name); err != nil || l.k.Syscall != nil && l.k.Syscall(name) {
			continue // one without a name, "call 451", cannot be ruled
		}
		if _, floor := l.set.refused[name]; floor {
			continue
		}
		l.grant(policy.OpSyscall, name, false, "").Text = name
	}
}

func (l *ladder) notYet(what string, n int) {
	if n > 0 {
		l.report.NotYet[what] += n
	}
}

// tables drops what stands in tables this build does not enforce.
func (l *ladder) tables() {
	for a := range l.grants {
		t := tableOf(a.Op)
		if !l.k.Tables[t] {
			delete(l.grants, a)
			l.notYet(t+"/rule", 1)
		}
	}
}
