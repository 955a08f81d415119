package seccomp

import (
	"fmt"

	"golang.org/x/net/bpf"
)

// Offsets in struct seccomp_data, <linux/seccomp.h>.
const (
	offNr   = 0
	offArch = 4
	offArgs = 16 // six 64-bit words, low half first on both architectures
)

// block is what happens to one call number: rules in order, the first that holds answers, and the last holds always.
type block struct {
	nr    uint32
	rules []Call
}

// front compiles the calls that need their arguments looked at. It stands before the flat list that libseccomp compiles and
// falls through to it with nothing decided.
//
// libseccomp is not asked to do this itself because its rules of one call have no order: an unconditional rule
// swallows the conditional ones, overlapping masks answer by internal order, and there is no masked "not equal". Here the first rule
// wins, as in Filter.Decide. The kernel's cache of argument-free answers (5.11) reads through this form, so plain calls pay nothing.
func front(arch Arch, blocks []block, deflt Action) ([]bpf.Instruction, error) {
	code := []bpf.Instruction{
		bpf.LoadAbsolute{Off: offArch, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(arch), SkipTrue: 1},
		bpf.RetConstant{Val: uint32(Kill)},
		bpf.LoadAbsolute{Off: offNr, Size: 4},
	}
	if arch == AMD64 {
		code = append(code,
			bpf.JumpIf{Cond: bpf.JumpGreaterOrEqual, Val: x32Bit, SkipFalse: 2},
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: minusOne, SkipTrue: 1},
			bpf.RetConstant{Val: uint32(Kill)})
	}
	for _, b := range blocks {
		var body []bpf.Instruction
		answered := false
		for _, r := range b.rules {
			rule, err := compileRule(r)
			if err != nil {
				return nil, err
			}
			body = append(body, rule...)
			answered = len(r.When) == 0
		}
		if !answered {
			body = append(body, bpf.RetConstant{Val: uint32(deflt.compiled())})
		}
		if len(body) < 256 {
			code = append(code, bpf.JumpIf{Cond: bpf.JumpEqual, Val: b.nr, SkipFalse: uint8(len(body))})
		} else {
			code = append(code, bpf.JumpIf{Cond: bpf.JumpEqual, Val: b.nr, SkipTrue: 1}, bpf.Jump{Skip: uint32(len(body))})
		}
		code = append(code, body...)
	}
	return code, nil
}

// compileRule: every condition jumps past the rule's return when it does not hold.
func compileRule(r Call) ([]bpf.Instruction, error) {
	var rule []bpf.Instruction
	for _, w := range r.When {
		for half := range uint(2) {
			mask, value := uint32(w.Mask>>(32*half)), uint32(w.Value>>(32*half))
			if mask == 0 {
				continue
			}
			rule = append(rule, bpf.LoadAbsolute{Off: uint32(offArgs+8*w.Arg) + 4*uint32(half), Size: 4})
			if mask != low32 {
				rule = append(rule, bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: mask})
			}
			rule = append(rule, bpf.JumpIf{Cond: bpf.JumpEqual, Val: value})
		}
	}
	rule = append(rule, bpf.RetConstant{Val: uint32(r.Do.compiled())})
	if len(rule) > 255 {
		return nil, fmt.Errorf("seccomp: %s: rule with %d conditions is too long", r.Name, len(r.When))
	}
	for i, ins := range rule {
		if j, ok := ins.(bpf.JumpIf); ok {
			j.SkipFalse = uint8(len(rule) - i - 1)
			rule[i] = j
		}
	}
	return rule, nil
}
