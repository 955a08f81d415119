package pythonshim

import (
	"bytes"
	"encoding/binary"
	"maps"
	"slices"
)

// RulesName is the file in [ShimDir] that holds a policy's [Rules] for the shim. It is read once at each interpreter's start.
const RulesName = "rules"

// Rules are what a policy says of Python, in a form that the shim can look up without thinking.
type Rules struct {
	Imports map[string]bool    // lines of [python.import]: "flask", "ctypes", "*"; false wins
	Calls   map[string]bool    // lines of [python.call]: functions and categories of the registry, "*"; false wins
	Eval    map[string]Profile // [python.eval] under "", [python.eval.NAME] under NAME; empty: evaluated text is refused
	Inspect []string           // variables of __main__ whose values are noted at the end
	Program string             // script of an installed program (bin/flask), as python gets it: its imports are not asked for; "" else
}

// Profile is one profile of [python.eval] as TOML has it: lists under syntax call attribute import magic, texts under the others.
type Profile struct {
	Lists  map[string][]string
	Values map[string]string
}

// Marshal gives the rules as bytes of Python's marshal format, version 2, which every interpreter from 3.8 reads. The same rules give the same bytes.
func (r Rules) Marshal() []byte {
	var m marshaller
	m.open()
	m.text("import")
	m.flags(r.Imports)
	m.text("call")
	m.flags(r.Calls)
	if len(r.Inspect) > 0 {
		m.text("inspect")
		m.list(r.Inspect)
	}
	m.text("program")
	m.text(r.Program)
	m.text("eval")
	m.open()
	for _, name := range slices.Sorted(maps.Keys(r.Eval)) {
		m.text(name)
		m.open()
		p := r.Eval[name]
		for _, key := range slices.Sorted(maps.Keys(p.Lists)) {
			m.text(key)
			m.list(p.Lists[key])
		}
		for _, key := range slices.Sorted(maps.Keys(p.Values)) {
			m.text(key)
			m.text(p.Values[key])
		}
		m.close()
	}
	m.close()
	m.close()
	return m.Bytes()
}

// marshaller writes the few types that the shim is given.
type marshaller struct{ bytes.Buffer }

func (m *marshaller) open()  { m.WriteByte('{') }
func (m *marshaller) close() { m.WriteByte('0') }

func (m *marshaller) size(n int) { m.Write(binary.LittleEndian.AppendUint32(nil, uint32(n))) }

func (m *marshaller) text(s string) {
	m.WriteByte('u')
	m.size(len(s))
	m.WriteString(s)
}

func (m *marshaller) list(of []string) {
	m.WriteByte('[')
	m.size(len(of))
	for _, s := range of {
		m.text(s)
	}
}

func (m *marshaller) flags(of map[string]bool) {
	m.open()
	for _, name := range slices.Sorted(maps.Keys(of)) {
		m.text(name)
		m.WriteByte(map[bool]byte{true: 'T', false: 'F'}[of[name]])
	}
	m.close()
}
