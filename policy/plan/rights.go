package plan

import (
	"strings"

	"psb/policy"
)

// Rights is what a place may be used for; the words are the policy file's.
type Rights uint8

// The rights of [files].
const (
	Read Rights = 1 << iota
	Write
	Create
	List
	Exec
	UseDevice
)

// Has reports whether every right of want is there.
func (r Rights) Has(want Rights) bool { return r&want == want }

// String lists the rights, "read exec"; none is "nothing".
func (r Rights) String() string {
	var words []string
	for _, w := range []struct {
		bit  Rights
		word string
	}{{Read, "read"}, {Write, "write"}, {Create, "create"}, {List, "list"}, {Exec, "exec"}, {UseDevice, "device"}} {
		if r&w.bit != 0 {
			words = append(words, w.word)
		}
	}
	if len(words) == 0 {
		return "nothing"
	}
	return strings.Join(words, " ")
}

// rightsOf turns a rule's operation into rights, with what they imply.
func rightsOf(op policy.Op) Rights {
	switch op {
	case policy.OpRead:
		return Read
	case policy.OpWrite:
		return Read | Write
	case policy.OpCreate:
		return Create
	case policy.OpList:
		return List
	case policy.OpExec:
		return Read | Exec
	case policy.OpDevice:
		return UseDevice
	}
	return 0
}
