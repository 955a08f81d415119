package plan

import (
	"psb/policy"
	"psb/seccomp"
)

// Floor lists the paths that are hidden even from a learning run, for a home folder.
func Floor(home string) []string { return policy.Floor(home) }

// Guarded lists the start-up files below a home folder, never writable by a box.
func Guarded(home string) []string { return policy.Guarded(home) }

// Homes are the folders whose credential stores the floor covers.
func Homes(m policy.Macros) []string { return policy.Homes(m) }

// RiskOf is policy.RiskOf with what only the filters know: a call that no run gets.
func RiskOf(r policy.Rule, m policy.Macros) policy.Risk {
	if r.Op == policy.OpSyscall && !r.Deny {
		if class, why := seccomp.ClassOf(r.Pattern.Text); class == seccomp.Floor {
			return policy.Risk{Tier: policy.TierNever, Why: why}
		}
	}
	return policy.RiskOf(r, m)
}
