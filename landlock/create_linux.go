// Does to the process: opens a Landlock ruleset descriptor and, briefly, the objects of path rules; restricts nothing.
// Undone: by closing the descriptor.
// Preconditions: the ruleset was fitted by Fit to this kernel's Probe.
// Called by: cmd/psb, before the keeper is started; landlock_restrict_self(2) is the launched process's own act.
// Proved by: TestCreateHandlesWholeABI, TestCreateStrict, TestFiles, TestLite, TestScopes.

package landlock

import (
	"errors"
	"fmt"

	ll "github.com/landlock-lsm/go-landlock/landlock"
	llsys "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// ErrNothing is returned by [Create] for a ruleset that restricts nothing: there is no descriptor to make, and the caller
// has to decide whether that is acceptable.
var ErrNothing = errors.New("landlock: the ruleset restricts nothing")

// Create makes the ruleset's descriptor (close-on-exec, the caller closes it) with landlock_create_ruleset(2) and adds its
// rules with landlock_add_rule(2). The calling process stays unrestricted. Further rules may be added to the descriptor as
// long as their rights are handled.
//
// It is strict: a right the kernel does not know, a rule with a right that is not handled, a missing path, and a folder's
// right on a file are errors. Linux 5.13.
func Create(r Ruleset) (fd int, err error) {
	if !r.Enforces() {
		return -1, ErrNothing
	}
	if r.ABI == 0 {
		return -1, errors.New("landlock: the ruleset was not fitted to a kernel")
	}
	rules := make([]ll.Rule, 0, len(r.Paths)+len(r.Ports))
	for _, p := range r.Paths {
		rules = append(rules, ll.PathAccess(ll.AccessFSSet(p.rights()), p.Path))
	}
	for _, p := range r.Ports {
		rules = append(rules, portRules(p)...)
	}
	// The literal config is strict: BestEffort would drop what the kernel lacks without a word.
	cfg := ll.Config{HandledAccessFS: ll.AccessFSSet(r.HandledFS), HandledAccessNet: ll.AccessNetSet(r.HandledNet), Scoped: ll.ScopedSet(r.Scoped)}
	fd, flags, err := cfg.NewRulesetFD(rules...)
	if err != nil {
		return -1, fmt.Errorf("create landlock ruleset: %w", err)
	}
	if fd < 0 || flags != 0 {
		return -1, fmt.Errorf("BUG: go-landlock answered descriptor %d and flags %#x for %v", fd, flags, cfg)
	}
	return fd, nil
}

// portRules splits a rule into go-landlock's, which hold one right each.
func portRules(p PortRule) []ll.Rule {
	var out []ll.Rule
	for _, one := range []struct {
		right Net
		rule  func(uint16) ll.NetRule
	}{{NetBindTCP, ll.BindTCP}, {NetConnectTCP, ll.ConnectTCP}, {NetBindUDP, ll.BindUDP}, {NetConnectSendUDP, ll.ConnectSendUDP}} {
		if p.Access&one.right != 0 {
			out = append(out, one.rule(p.Port))
		}
	}
	return out
}

// Probe asks the kernel for its Landlock ABI with landlock_create_ruleset(2). It changes nothing.
func Probe() Support {
	version, err := llsys.LandlockGetABIVersion()
	if err != nil {
		return Support{Reason: refusal(err)}
	}
	s := Support{ABI: min(version, NewestABI)}
	// go-landlock, which makes the ruleset, treats ABI 6 without the fix of erratum 2 as 5, so this must say the same. The
	// defect refuses too much (signals between threads restricted apart), never too little.
	if errata, err := llsys.LandlockGetErrata(); version >= 6 && (err != nil || errata&errSignalScope == 0) {
		return Support{ABI: 5, Reason: fmt.Sprintf("this kernel says ABI %d, but without the fix of Landlock erratum 2; a newer stable release has it", version)}
	}
	return s
}

// errSignalScope is the bit of erratum 2 in the answer of LANDLOCK_CREATE_RULESET_ERRATA.
const errSignalScope = 1 << 1

func refusal(err error) string {
	switch {
	case errors.Is(err, unix.ENOSYS):
		return "landlock_create_ruleset: the kernel is older than 5.13, was built without CONFIG_SECURITY_LANDLOCK, or a container's seccomp filter hides the call (ENOSYS)"
	case errors.Is(err, unix.EOPNOTSUPP):
		return "landlock_create_ruleset: built into the kernel but not enabled, landlock is missing from the boot option lsm= (EOPNOTSUPP)"
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return fmt.Sprintf("landlock_create_ruleset: refused, a container's seccomp filter blocks it (%v)", err)
	default:
		return fmt.Sprintf("landlock_create_ruleset: %v", err)
	}
}
