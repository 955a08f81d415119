package mcpserver

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Ceiling is one figure that a client may lower: what it gets without asking, and the most it may ask for.
type Ceiling struct{ Default, Max float64 }

// Ceilings are the operator's bounds. They stand in the schemas that clients see, and each call is checked against them.
type Ceilings struct {
	Timeout    Ceiling // seconds
	Memory     Ceiling // MiB
	CPUs       Ceiling
	Processes  Ceiling
	Disk       Ceiling // MiB, of the workspace and of each private space
	Output     Ceiling // bytes of each stream that are shown
	Code       int     // bytes
	Stdin      int     // bytes
	Args       int     // words
	Files      int     // that a call may bring
	FileBytes  int     // of all of them
	Variables  int
	Returned   int           // files that come back
	ReturnMax  int64         // bytes of one file that comes back
	Background time.Duration // the most that a task may take
}

// DefaultCeilings are those of a server whose operator said nothing.
func DefaultCeilings() Ceilings {
	return Ceilings{Timeout: Ceiling{30, 300}, Memory: Ceiling{512, 2048}, CPUs: Ceiling{1, 2}, Processes: Ceiling{64, 256}, Disk: Ceiling{64, 512},
		Output: Ceiling{64 << 10, 256 << 10}, Code: 256 << 10, Stdin: 1 << 20, Args: 64, Files: 64, FileBytes: 8 << 20, Variables: 32, Returned: 64, ReturnMax: 8 << 20,
		Background: time.Hour}
}

// ceilingNames are what --max takes, each with its unit and the field.
var ceilingNames = []struct {
	name, unit string
	at         func(*Ceilings) *Ceiling
	least      float64
}{
	{"timeout_s", "seconds", func(c *Ceilings) *Ceiling { return &c.Timeout }, 0.1},
	{"memory_mb", "MiB", func(c *Ceilings) *Ceiling { return &c.Memory }, 16},
	{"cpus", "processors", func(c *Ceilings) *Ceiling { return &c.CPUs }, 0.01},
	{"max_processes", "processes", func(c *Ceilings) *Ceiling { return &c.Processes }, 1},
	{"disk_mb", "MiB", func(c *Ceilings) *Ceiling { return &c.Disk }, 1},
	{"max_output_bytes", "bytes", func(c *Ceilings) *Ceiling { return &c.Output }, 256},
}

// mostOutput bounds max_output_bytes itself: two streams of it, escaped, stay far below the 16 MiB at which clients give up.
const mostOutput = 1 << 20

// CeilingNames lists what Set knows.
func CeilingNames() []string {
	var out []string
	for _, c := range ceilingNames {
		out = append(out, c.name)
	}
	return append(out, "background_s")
}

// Set takes NAME=VALUE, as the operator writes it: the most a client may ask for. A default above it is lowered.
func (c *Ceilings) Set(words string) error {
	name, text, ok := strings.Cut(words, "=")
	if !ok {
		return fmt.Errorf("%q: NAME=VALUE is needed", words)
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v > 0) || v > 1e12 {
		return fmt.Errorf("%s: %q is no number above 0", name, text)
	}
	if name == "background_s" {
		c.Background = time.Duration(v * float64(time.Second))
		return nil
	}
	i := slices.IndexFunc(ceilingNames, func(n struct {
		name, unit string
		at         func(*Ceilings) *Ceiling
		least      float64
	}) bool {
		return n.name == name
	})
	if i < 0 {
		return fmt.Errorf("%q is none of %s", name, strings.Join(CeilingNames(), ", "))
	}
	if least := ceilingNames[i].least; v < least {
		return fmt.Errorf("%s: %v is below %v %s", name, v, least, ceilingNames[i].unit)
	}
	if name == "max_output_bytes" && v > mostOutput {
		return fmt.Errorf("%s: %v is above %d bytes", name, v, mostOutput)
	}
	at := ceilingNames[i].at(c)
	at.Max, at.Default = v, min(at.Default, v)
	return nil
}

// Number gives a ceiling's figures by the name of its argument.
func (c Ceilings) Number(name string) (Ceiling, string) {
	for _, n := range ceilingNames {
		if n.name == name {
			return *n.at(&c), n.unit
		}
	}
	return Ceiling{}, ""
}
