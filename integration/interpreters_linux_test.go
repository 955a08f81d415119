package integration

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"psb/integration/programs"
)

// interpreter is one CPython of this host.
type interpreter struct {
	path                string
	major, minor, micro int
}

func (i interpreter) version() string { return fmt.Sprintf("%d.%d.%d", i.major, i.minor, i.micro) }

// tried are those a test of every interpreter runs under: the system's, the oldest and the newest; all with PSB_ROWS=all.
func tried() []interpreter {
	return slices.DeleteFunc(slices.Clone(interpreters()), func(i interpreter) bool {
		older := func(o interpreter) bool { return o.minor < i.minor }
		newer := func(o interpreter) bool { return o.minor > i.minor }
		return once() && i.path != systemPython && slices.ContainsFunc(interpreters(), older) && slices.ContainsFunc(interpreters(), newer)
	})
}

// others are tried without the system's.
func others() []interpreter {
	return slices.DeleteFunc(tried(), func(i interpreter) bool { return i.path == systemPython })
}

const systemPython = programs.System

// interpreters are the CPythons this run may use.
var interpreters = sync.OnceValue(func() (list []interpreter) {
	for _, i := range programs.Interpreters() {
		list = append(list, interpreter{i.Path, i.Major, i.Minor, i.Micro})
	}
	return list
})

// reaches reports whether the person can start the interpreter and whether it has the modules; nil when both.
func (s scene) reaches(t testing.TB, i interpreter, modules []string) error {
	t.Helper()
	// sh starts it: whether a folder on the way is closed to the person is only seen when that person tries.
	r := s.run(t, call{argv: append([]string{"/bin/sh", "-c", `exec "$0" -c "$@"`, i.path, programs.LacksOf}, modules...), dir: s.home})
	f := strings.Fields(r.out)
	switch {
	case r.code != 0 || len(f) == 0:
		return fmt.Errorf("%s cannot be started as %s: %s", i.path, s.who.name, strings.TrimSpace(r.err))
	case len(f) > 1:
		return fmt.Errorf("%s has no %s", i.path, strings.Join(f[1:], " "))
	}
	return nil
}

// choose gives the interpreters a row runs under. The error says why there is none.
func (s scene) choose(t testing.TB, which string, modules []string) ([]interpreter, error) {
	t.Helper()
	all := interpreters()
	if which == "system" {
		all = slices.DeleteFunc(slices.Clone(all), func(i interpreter) bool { return i.path != systemPython })
	}
	if len(all) == 0 {
		return nil, errors.New("no CPython 3.8 to 3.13 was found")
	}
	if which == "each" {
		return tried(), nil // each is a test of its own, and skips on its own
	}
	var why []error
	for _, i := range all {
		err := s.reaches(t, i, modules)
		if err == nil {
			return []interpreter{i}, nil
		}
		why = append(why, err)
	}
	return nil, errors.Join(why...)
}
