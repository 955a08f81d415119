package seccomp

import (
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/net/bpf"
)

// Program is a compiled filter.
type Program struct {
	Arch  Arch
	Bytes []byte // array of struct sock_filter, 8 bytes each, little-endian as both architectures are
}

// maxInstructions is BPF_MAXINSNS: the kernel refuses a longer program.
const maxInstructions = 4096

// Len is the number of instructions.
func (p Program) Len() int { return len(p.Bytes) / 8 }

// Validate reports a program that the kernel would not take for its length or that ends in the middle of an instruction.
func (p Program) Validate() error {
	if len(p.Bytes) == 0 || len(p.Bytes)%8 != 0 || p.Len() > maxInstructions {
		return fmt.Errorf("seccomp: a program of %d bytes is no filter", len(p.Bytes))
	}
	_, err := bpf.NewVM(p.instructions())
	if err != nil {
		return fmt.Errorf("seccomp: program: %w", err)
	}
	return nil
}

// Simulate runs the program, without a kernel, on one call: interface arch, number nr, raw arguments. The answer is the
// kernel's: a Notify action carries no error number.
func (p Program) Simulate(arch uint32, nr int, args [6]uint64) (Action, error) {
	vm, err := bpf.NewVM(p.instructions())
	if err != nil {
		return 0, fmt.Errorf("seccomp: simulate: %w", err)
	}
	return run(vm, arch, nr, args)
}

func run(vm *bpf.VM, arch uint32, nr int, args [6]uint64) (Action, error) {
	// The VM reads big-endian, as packets are. Each 32-bit word is laid down that way, at the place where a
	// little-endian kernel has it.
	var data [64]byte
	binary.BigEndian.PutUint32(data[offNr:], uint32(nr))
	binary.BigEndian.PutUint32(data[offArch:], arch)
	for i, a := range args {
		binary.BigEndian.PutUint32(data[offArgs+8*i:], uint32(a))
		binary.BigEndian.PutUint32(data[offArgs+8*i+4:], uint32(a>>32))
	}
	ret, err := vm.Run(data[:])
	if err != nil {
		return 0, fmt.Errorf("seccomp: simulate: %w", err)
	}
	act := Action(uint32(ret))
	if act.Kind() == KindInvalid {
		return 0, errors.New("seccomp: simulate: " + act.String())
	}
	return act, nil
}

func (p Program) instructions() []bpf.Instruction {
	out := make([]bpf.Instruction, 0, p.Len())
	for b := p.Bytes; len(b) >= 8; b = b[8:] {
		out = append(out, bpf.RawInstruction{
			Op: binary.LittleEndian.Uint16(b),
			Jt: b[2],
			Jf: b[3],
			K:  binary.LittleEndian.Uint32(b[4:]),
		}.Disassemble())
	}
	return out
}

func encode(code []bpf.Instruction) ([]byte, error) {
	raw, err := bpf.Assemble(code)
	if err != nil {
		return nil, fmt.Errorf("seccomp: assemble: %w", err)
	}
	var out []byte
	for _, r := range raw {
		out = binary.LittleEndian.AppendUint16(out, r.Op)
		out = append(out, r.Jt, r.Jf)
		out = binary.LittleEndian.AppendUint32(out, r.K)
	}
	return out, nil
}
