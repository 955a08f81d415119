package export

import (
	"path"
	"strings"
)

// withoutLinks is for targets that make no symbolic links: what a link leads to stands at the link's place once more. Links that lead to
// nothing the box shows are left out; lost hears of those that lead into a private space.
func withoutLinks(list []act, lost func(link string)) []act {
	links := map[string]string{}
	for _, a := range list {
		if a.kind == actLink {
			links[a.target] = a.source
		}
	}
	var out []act
	for _, a := range list {
		if a.kind != actLink {
			out = append(out, a)
		}
	}
	shown := out
	for _, a := range list {
		if a.kind != actLink {
			continue
		}
		real, ok := follow(a.target, links)
		if !ok {
			continue
		}
		over := covering(shown, real)
		switch {
		case over == nil:
		case over.kind == actBind:
			again := *over
			again.source, again.target = path.Join(over.source, strings.TrimPrefix(real, over.target)), a.target
			out = append(out, again)
		case over.kind == actFile && over.target == real:
			again := *over
			again.target = a.target
			out = append(out, again)
		default:
			if over.target != real || over.kind != actDir {
				lost(a.target)
				continue
			}
		}
		for _, b := range shown {
			if b.target != real && within(b.target, real) {
				b.target = path.Join(a.target, strings.TrimPrefix(b.target, real))
				out = append(out, b)
			}
		}
	}
	return out
}

// covering is the act that shows what stands at a path: the deepest one at or above it.
func covering(list []act, p string) *act {
	var best *act
	for i, a := range list {
		if a.kind != actSeal && within(p, a.target) && (best == nil || len(a.target) >= len(best.target)) {
			best = &list[i]
		}
	}
	return best
}

// follow resolves a link through the others; ok is false for a loop.
func follow(p string, links map[string]string) (string, bool) {
	at, rest := "/", strings.Split(strings.TrimPrefix(p, "/"), "/")
	for met := 0; len(rest) > 0; {
		next := path.Join(at, rest[0])
		rest = rest[1:]
		text, isLink := links[next]
		if !isLink {
			at = next
			continue
		}
		if met++; met > 40 {
			return "", false
		}
		if !path.IsAbs(text) {
			text = path.Join(at, text)
		}
		at, rest = "/", append(strings.Split(strings.TrimPrefix(path.Clean(text), "/"), "/"), rest...)
	}
	return at, true
}
