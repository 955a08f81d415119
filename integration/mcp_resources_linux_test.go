package integration

import (
	"encoding/json"
	"strings"
	"testing"
)

// resources are the names of what the server lists, with the URI of each.
func (a *agent) resources() (names []string, uris map[string]string) {
	a.t.Helper()
	var r struct{ Resources []struct{ Name, URI string } }
	must(a.t, json.Unmarshal(a.ask("resources/list", map[string]any{}).Result, &r))
	uris = map[string]string{}
	for _, x := range r.Resources {
		names, uris[x.Name] = append(names, x.Name), x.URI
	}
	return names, uris
}

func (a *agent) heard() (listens bool, times int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.listen, a.news
}

// TestMCPResources: files that calls made, in boxes of their own and in sessions, are listed and read back; a client that listens is told once for each call
// that made some. That it listens keeps no server from its end.
func TestMCPResources(t *testing.T) {
	s := newScene(t, people()[len(people())-1])
	a := s.agent(t)
	a.begin("subscriptions/listen", map[string]any{"notifications": map[string]any{"resourcesListChanged": true}})
	told := func(times int) func() bool {
		return func() bool {
			listens, n := a.heard()
			return listens && n == times
		}
	}
	until(t, "it listens", told(0))
	if names, _ := a.resources(); len(names) > 0 {
		t.Errorf("%q", names)
	}
	a.python("import os; os.mkdir('d')\nfor n in ('a', 'd/b', 'c.csv'): open(n, 'w').write('of ' + n)").want(t, "ok")
	until(t, "the client is told", told(1))
	a.python("open('e', 'w')", "return_files", false).want(t, "ok")
	a.python("1").want(t, "ok")
	a.inside("w", "open('kept', 'w').write('of a session'); open('more', 'w').write('x')").want(t, "ok")
	until(t, "the client is told again", told(2))
	names, uris := a.resources()
	if got := strings.Join(names, " "); got != "files/more files/kept files/d/b files/c.csv files/a" {
		t.Errorf("%s", got)
	}
	for name, want := range map[string]string{"files/d/b": "of d/b", "files/kept": "of a session"} {
		if got := a.kept(uris[name]); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	a.session("close", "w").says(t, false, "closed")
	if names, _ := a.resources(); len(names) != 5 || !told(2)() {
		t.Errorf("%q, told %d times", names, a.news)
	}
}
