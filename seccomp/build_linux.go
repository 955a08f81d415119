// What it does to the process: loads the C library libseccomp and makes short-lived filters in memory; none is installed.
// Undone: nothing to undo, everything is released before Build returns.
// Preconditions: Linux 4.14 (SECCOMP_RET_KILL_PROCESS), 5.0 for filters that notify; else libseccomp refuses the rule.
// Called by: cmd/psb before the box starts; learn/ptrace and Listener for names and numbers.
// Proven by: TestProgramAgrees, TestEveryCallHasAPlace, TestOrderIsExact.

package seccomp

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"

	lib "github.com/seccomp/libseccomp-golang"
	"golang.org/x/sys/unix"
)

// Number gives the call's number on an interface; ok is false when the interface has no such call.
func Number(a Arch, name string) (nr int, ok bool) {
	la, err := libArch(a)
	if err != nil {
		return 0, false
	}
	if nr, err := lib.GetSyscallFromNameByArch(name, la); err == nil {
		return int(nr), nr >= 0 // negative: libseccomp's placeholder for a call other interfaces have
	}
	if nr, ok = newer[name]; ok {
		return nr, true
	}
	if a == AMD64 {
		nr, ok = onlyAMD64[name]
	}
	return nr, ok
}

// Name gives the name of a call number on an interface, "" when nobody knows it.
func Name(a Arch, nr int) string {
	la, err := libArch(a)
	if err != nil || nr < 0 {
		return ""
	}
	if name, err := lib.ScmpSyscall(nr).GetNameByArch(la); err == nil {
		return name
	}
	for name, n := range newer {
		if n == nr {
			return name
		}
	}
	for name, n := range onlyAMD64 {
		if n == nr && a == AMD64 {
			return name
		}
	}
	return ""
}

// LibVersion is the version of the libseccomp linked in, "2.5.4".
func LibVersion() string {
	major, minor, micro := lib.GetLibraryVersion()
	return fmt.Sprintf("%d.%d.%d", major, minor, micro)
}

// Native is the interface this binary was built for.
func Native() (Arch, error) { return ArchOf(runtime.GOARCH) }

// Build compiles f. Calls that f.Arch lacks are left out; equal filters give equal bytes.
//
// Calls whose arguments matter, and calls libseccomp has no name for, stand in front (see front); all others are a flat set of
// numbers, for which libseccomp writes a binary search.
func (f Filter) Build() (Program, error) {
	if err := f.Validate(); err != nil {
		return Program{}, err
	}
	var blocks []block
	var flat []Call
	for rules := range byName(f.Calls) {
		nr, ok := Number(f.Arch, rules[0].Name)
		if !ok {
			continue
		}
		plain := len(rules[0].When) == 0
		switch {
		case plain && rules[0].Do == f.Default: // libseccomp refuses a rule that says what the default says
		case plain && libKnows(rules[0].Name):
			flat = append(flat, rules[0])
		default:
			blocks = append(blocks, block{uint32(nr), rules})
		}
	}
	// By number the busiest come first: write, ioctl, sendto.
	slices.SortFunc(blocks, func(a, b block) int { return int(a.nr) - int(b.nr) })

	code, err := front(f.Arch, blocks, f.Default)
	if err != nil {
		return Program{}, err
	}
	head, err := encode(code)
	if err != nil {
		return Program{}, err
	}
	tail, err := f.flat(flat)
	if err != nil {
		return Program{}, err
	}
	p := Program{Arch: f.Arch, Bytes: append(head, tail...)}
	return p, p.Validate()
}

// byName yields the rules of each call together, in the order the calls first appear.
func byName(calls []Call) func(func([]Call) bool) {
	return func(yield func([]Call) bool) {
		rules := map[string][]Call{}
		var order []string
		for _, c := range calls {
			if rules[c.Name] == nil {
				order = append(order, c.Name)
			}
			rules[c.Name] = append(rules[c.Name], c)
		}
		for _, name := range order {
			if !yield(rules[name]) {
				return
			}
		}
	}
}

func libKnows(name string) bool {
	_, err := lib.GetSyscallFromName(name)
	return err == nil
}

// flat has libseccomp compile the calls without conditions.
func (f Filter) flat(calls []Call) ([]byte, error) {
	sf, err := lib.NewFilter(libAction(f.Default))
	if err != nil {
		return nil, fmt.Errorf("seccomp_init: %w", err)
	}
	defer sf.Release()
	want, err := libArch(f.Arch)
	if err != nil {
		return nil, err
	}
	native, err := lib.GetNativeArch()
	if err != nil {
		return nil, fmt.Errorf("seccomp_arch_native: %w", err)
	}
	if want != native {
		if err := sf.AddArch(want); err != nil {
			return nil, fmt.Errorf("seccomp_arch_add %v: %w", f.Arch, err)
		}
		if err := sf.RemoveArch(native); err != nil {
			return nil, fmt.Errorf("seccomp_arch_remove %v: %w", native, err)
		}
	}
	if err := sf.SetBadArchAction(lib.ActKillProcess); err != nil {
		return nil, fmt.Errorf("seccomp_attr_set bad arch: %w", err)
	}
	// Stage 2 sets no_new_privs itself, before Landlock.
	if err := sf.SetNoNewPrivsBit(false); err != nil {
		return nil, fmt.Errorf("seccomp_attr_set no_new_privs: %w", err)
	}
	if err := sf.SetOptimize(2); err != nil {
		return nil, fmt.Errorf("seccomp_attr_set optimize: %w", err)
	}
	for _, c := range calls {
		// libseccomp speaks the numbers of the machine it runs on and translates by name.
		nr, err := lib.GetSyscallFromName(c.Name)
		if err != nil {
			return nil, fmt.Errorf("seccomp_syscall_resolve_name %s: %w", c.Name, err)
		}
		if err := sf.AddRuleExact(nr, libAction(c.Do)); err != nil {
			return nil, fmt.Errorf("seccomp_rule_add %s %v: %w", c.Name, c.Do, err)
		}
	}
	return export(sf)
}

// export reads the program back from anonymous memory; seccomp_export_bpf_mem needs libseccomp 2.6.
func export(sf *lib.ScmpFilter) ([]byte, error) {
	fd, err := unix.MemfdCreate("filter", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("memfd_create: %w", err)
	}
	mem := os.NewFile(uintptr(fd), "filter")
	defer mem.Close()
	if err := sf.ExportBPF(mem); err != nil {
		if _, why := mem.WriteAt([]byte{0}, 0); why != nil { // the library says ECANCELED for whatever the kernel said
			err = why
		}
		return nil, fmt.Errorf("seccomp_export_bpf: %w", err)
	}
	code, err := io.ReadAll(io.NewSectionReader(mem, 0, maxInstructions*8+8))
	if err != nil {
		return nil, fmt.Errorf("read filter: %w", err)
	}
	return code, nil
}

func libArch(a Arch) (lib.ScmpArch, error) {
	switch a {
	case AMD64:
		return lib.ArchAMD64, nil
	case ARM64:
		return lib.ArchARM64, nil
	}
	return lib.ArchInvalid, fmt.Errorf("seccomp: no filter for %v", a)
}

func libAction(a Action) lib.ScmpAction {
	switch a.Kind() {
	case KindAllow:
		return lib.ActAllow
	case KindTrace:
		return lib.ActTrace
	case KindNotify:
		return lib.ActNotify
	case KindErrno:
		return lib.ActErrno.SetReturnCode(int16(a.Errno()))
	case KindKill:
		return lib.ActKillProcess
	}
	return lib.ActInvalid
}
