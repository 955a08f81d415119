package main

import (
	"path"
	"runtime/debug"
	"slices"
	"strings"

	"psb/landlock"
	"psb/learn"
	"psb/policy"
	"psb/seccomp"
)

// judged is what is known of one call.
type judged struct {
	name  string
	class seccomp.Class
	rules seccomp.Filter // the judge's, of this call alone
}

func (r *recorder) call(nr int) judged {
	c, had := r.judged[nr]
	if had {
		return c
	}
	<-r.ready
	c.name = seccomp.Name(r.judge.Arch, nr)
	c.class, _ = seccomp.ClassOf(c.name)
	c.rules = r.judge
	c.rules.Calls = slices.DeleteFunc(slices.Clone(r.judge.Calls), func(of seccomp.Call) bool { return of.Name != c.name })
	r.judged[nr] = c
	return c
}

// mayRead: Landlock lets the program read this, or does not have a say.
func (r *recorder) mayRead(name string, dir bool) bool {
	need := landlock.FSReadFile
	if dir {
		need = landlock.FSReadDir
	}
	if r.walls.handled&need == 0 {
		return true
	}
	folder := name[:max(strings.LastIndexByte(name, '/'), 0)]
	if !dir && folder != "" && folder == r.open { // the next file of the same folder
		return true
	}
	for at := name; ; at = at[:max(strings.LastIndexByte(at, '/'), 0)] { // the kernel's names are clean
		if at == "" {
			at = "/"
		}
		if rule, ruled := r.walls.rules[at]; ruled && rule.Access&need != 0 && (!rule.File || at == name) {
			if !dir && at != name {
				r.open = folder
			}
			return true
		}
		if at == "/" {
			return false
		}
	}
}

// add takes an event over. An access that went through links is kept under the name the program used, where that name still leads to the
// same object and something about it has to be granted: its rule then shows the links as well. The name came from the program's memory,
// so it counts only after it was resolved here.
func (r *recorder) add(e learn.Event) {
	a, ok := e.(learn.Accessed)
	if ok && a.Asked != "" && a.Errno == "" {
		if through, links := r.throughLinks(a); len(links) > 0 {
			a.Target, a.Links = a.Access.Object, links
			a.Access.Object = through
			e = a
		}
	}
	if r.events++; r.events == longRun {
		debug.SetGCPercent(100)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.take(e)
}

// throughLinks gives the name the program used and where the links on its way stand; none when it is not to be used.
func (r *recorder) throughLinks(a learn.Accessed) (name string, links []string) {
	<-r.ready
	asked := path.Clean(a.Asked)
	if !path.IsAbs(asked) {
		return "", nil
	}
	// What needs no rule needs none under a name of the system's either. A link of the user's own, to the interpreter say, has to be shown.
	if byName := (policy.Access{Op: a.Access.Op, Object: asked}); r.known.Given(a.Access) && (r.known.Given(byName) || !r.known.Own(asked)) {
		return "", nil
	}
	o := r.j.look.Resolve(asked)
	if o.Path != a.Access.Object {
		return "", nil
	}
	for _, l := range o.Links {
		if strings.HasPrefix(l.At, "/proc/") || strings.HasPrefix(l.At, "/dev/") {
			return "", nil
		}
		links = append(links, l.At)
	}
	return asked, links
}
