package seccomp

import "fmt"

// Arch is a kernel call interface, as AUDIT_ARCH_* of <linux/audit.h> numbers it.
type Arch uint32

// Interfaces filters can be built for.
const (
	AMD64 Arch = 0xc000003e
	ARM64 Arch = 0xc00000b7
)

// x32Bit marks a call of the x32 interface, which shares AMD64's number. Every number from it upwards is foreign, except -1,
// which a tracer writes to skip a call.
const x32Bit = 0x40000000

// ArchOf gives the interface of a GOARCH name ("amd64", "arm64").
func ArchOf(goarch string) (Arch, error) {
	switch goarch {
	case "amd64":
		return AMD64, nil
	case "arm64":
		return ARM64, nil
	}
	return 0, fmt.Errorf("seccomp: no filter for architecture %q", goarch)
}

// String gives the GOARCH name.
func (a Arch) String() string {
	switch a {
	case AMD64:
		return "amd64"
	case ARM64:
		return "arm64"
	}
	return fmt.Sprintf("arch %#x", uint32(a))
}
