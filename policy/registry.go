package policy

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Category is one group of the sensitive registry: [python.call] names a category or one of its functions.
type Category struct {
	Name      string   // "process-exec"
	What      string   // what a function of it can do, for people
	Functions []string // "subprocess.Popen"; sorted
}

//go:embed registry.txt
var registryText string

// sensitive is registry.txt, read once.
type sensitive struct {
	categories []Category        // by name
	of         map[string]string // category of a function
	imports    []string          // sorted
	twins      map[string]string // the module that programs use, by its twin in C
	since      map[string][2]int // version of Python that brought a function
}

var registry = sync.OnceValue(func() *sensitive {
	r := &sensitive{of: map[string]string{}, twins: map[string]string{}, since: map[string][2]int{}}
	for line := range strings.Lines(registryText) {
		key, value, ok := strings.Cut(strings.TrimRight(line, "\n"), " ")
		if !ok || strings.HasPrefix(key, "#") {
			continue
		}
		first, rest, _ := strings.Cut(value, " ")
		switch key {
		case "category":
			r.categories = append(r.categories, Category{Name: first, What: rest})
		case "call":
			c := &r.categories[len(r.categories)-1]
			c.Functions = append(c.Functions, first)
			r.of[first] = c.Name
		case "import":
			r.imports = append(r.imports, first)
		case "twin":
			r.twins[first] = rest
		case "since":
			r.since[rest], _ = pythonVersion(first)
		}
	}
	for _, c := range r.categories {
		slices.Sort(c.Functions)
	}
	slices.SortFunc(r.categories, func(a, b Category) int { return strings.Compare(a.Name, b.Name) })
	slices.Sort(r.imports)
	return r
})

// Registry gives the sensitive registry, sorted by name: the functions that a program needs a rule for.
func Registry() []Category { return slices.Clone(registry().categories) }

// CategoryOf gives the category of a function of the registry; ok is false for what is none, a category's own name too.
func CategoryOf(function string) (c Category, ok bool) {
	name, ok := registry().of[function]
	if !ok {
		return Category{}, false
	}
	return categoryNamed(name)
}

func categoryNamed(name string) (Category, bool) {
	all := registry().categories
	i := slices.IndexFunc(all, func(c Category) bool { return c.Name == name })
	if i < 0 {
		return Category{}, false
	}
	return all[i], true
}

// In gives the functions of the category that an interpreter has; version is its "3.11", and "" stands for all there are.
func (c Category) In(version string) []string {
	have, ok := pythonVersion(version)
	if !ok {
		return slices.Clone(c.Functions)
	}
	return slices.DeleteFunc(slices.Clone(c.Functions), func(f string) bool {
		since := registry().since[f]
		return cmp.Or(cmp.Compare(since[0], have[0]), cmp.Compare(since[1], have[1])) > 0
	})
}

// pythonVersion reads "3.11", or "3.11.7".
func pythonVersion(text string) (v [2]int, ok bool) {
	parts := strings.Split(text, ".")
	if len(parts) < 2 {
		return v, false
	}
	for i := range v {
		n, err := strconv.Atoi(parts[i])
		if err != nil {
			return v, false
		}
		v[i] = n
	}
	return v, true
}

// SensitiveImports gives the modules of the standard library that need a line in [python.import], sorted.
func SensitiveImports() []string { return slices.Clone(registry().imports) }

// SensitiveImport says whether a module, or the package it stands in, is one of them.
func SensitiveImport(module string) bool {
	top, _, _ := strings.Cut(module, ".")
	facade := registry().twins[top]
	return slices.ContainsFunc(registry().imports, func(m string) bool {
		return module == m || strings.HasPrefix(module, m+".") || facade != "" && facade == m
	})
}

// ImportTwins gives, by each module in C, the module that programs use in its stead: a line on that speaks for both.
func ImportTwins() map[string]string {
	out := map[string]string{}
	for twin, facade := range registry().twins {
		out[twin] = facade
	}
	return out
}

// checkCall accepts "*", a category, a function of the registry.
func checkCall(name string) error {
	_, known := registry().of[name]
	_, category := categoryNamed(name)
	switch {
	case name == "*" || known || category:
		return nil
	case !callName(name):
		return fmt.Errorf("%q cannot be a function or category", name)
	}
	if twin := twinOf(name); twin != "" { // the function stands under the name that programs use
		return fmt.Errorf("%q is %q: write that", name, twin)
	}
	if meant := meantCall(name); meant != "" {
		return fmt.Errorf("%q is no function or category of the registry, did you mean %q?", name, meant)
	}
	_, categories := registryNames()
	return fmt.Errorf("%q is no function or category of the registry, valid: %s", name, strings.Join(append(categories, "*"), " "))
}

// coversCall says whether a line on name speaks for asked: the same, its category, or all.
func coversCall(name, asked string) bool {
	return name == "*" || name == asked || registry().of[asked] == name
}

// coversImport says whether a line on name speaks for asked: the module, a package above it, their twin in C, or all.
func coversImport(name, asked string) bool {
	if name == "*" || name == asked || strings.HasPrefix(asked, name+".") {
		return true
	}
	top, _, _ := strings.Cut(asked, ".")
	facade := registry().twins[top]
	return facade != "" && coversImport(name, facade)
}
