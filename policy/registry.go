package policy

import (
	_ "embed"
	"slices"
	"strings"
)

// Category is one group of the sensitive registry: [python.call] names a category or one of its functions.
type Category struct {
	Name      string   // "process-exec"
	What      string   // what a function of it can do, for people
	Functions []string // "subprocess.Popen"; sorted
}

//go:embed registry.txt
var registryText string

// Registry gives the sensitive registry, sorted by name: the functions that a program needs a rule for.
func Registry() []Category {
	var out []Category
	for line := range strings.Lines(registryText) {
		line = strings.TrimRight(line, "\n")
		key, value, ok := strings.Cut(line, " ")
		if !ok || strings.HasPrefix(line, "#") || key == "import" {
			continue
		}
		switch key {
		case "category":
			name, what, _ := strings.Cut(value, " ")
			out = append(out, Category{Name: name, What: what})
		case "call":
			out[len(out)-1].Functions = append(out[len(out)-1].Functions, value)
		}
	}
	for _, c := range out {
		slices.Sort(c.Functions)
	}
	slices.SortFunc(out, func(a, b Category) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// SensitiveImports gives the modules of the standard library that need a line in [python.import], sorted.
func SensitiveImports() []string {
	var out []string
	for line := range strings.Lines(registryText) {
		if v, ok := strings.CutPrefix(line, "import "); ok {
			out = append(out, strings.TrimSpace(v))
		}
	}
	slices.Sort(out)
	return out
}
