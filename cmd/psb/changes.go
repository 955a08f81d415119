package main

import (
	"fmt"
	"slices"
	"strings"

	"psb/cmd/psb/report"
	"psb/policy"
)

// change is one thing on the host that would be another one after an audited run.
type change report.Change

// protectedRisk is why a change that no policy allows deserves a look.
const protectedRisk = "protected: other programs run or obey it"

// text is the change in words, its path as a policy would name it.
func (c change) text(m policy.Macros) string {
	name := func(p string) string {
		if c.Kind == "folder" {
			p += "/"
		}
		return policy.Relative(p, m)
	}
	l := c.How + " " + name(c.Path)
	switch {
	case c.How == "rename":
		l = "rename " + name(c.From) + " to " + name(c.Path)
	case c.Kind == "link":
		l += " (a link to " + c.Link + ")"
	case c.How == "create" && c.Kind == "file":
		l += " (" + bytesText(c.After) + ")"
	case c.How == "change":
		l += " (" + bytesText(c.Before) + ", then " + bytesText(c.After) + ")"
	case c.Held > 0:
		l += " with " + counted(c.Held, "object")
	case c.How == "chmod":
		l += " (" + c.Mode + ")"
	case c.Kind != "file" && c.Kind != "folder":
		l += " (" + c.Kind + ")"
	}
	if c.Risk != "" {
		l += "  # " + c.Risk
	}
	return l
}

func bytesText(n int64) string {
	switch {
	case n < 0:
		return "unknown size"
	case n == 1:
		return "1 byte"
	case n < 10_000:
		return fmt.Sprintf("%d bytes", n)
	case n < 10_000_000:
		return fmt.Sprintf("%d kB", n/1000)
	}
	return fmt.Sprintf("%d MB", n/1_000_000)
}

// sortChanges puts what has a risk first, then goes by path.
func sortChanges(list []change) {
	slices.SortFunc(list, func(a, b change) int {
		if d := rank(a.Risk) - rank(b.Risk); d != 0 {
			return d
		}
		if d := strings.Compare(a.Path, b.Path); d != 0 {
			return d
		}
		return strings.Compare(a.How, b.How)
	})
}

// fold is several changes told as one.
type fold struct {
	how, dir string
	list     []change
}

// foldChanges words changes in at most about most lines: where there are more, those of one kind below one folder become one line, the deepest
// folders first.
func foldChanges(list []change, most int, m policy.Macros) []string {
	depth := 0
	for _, c := range list {
		depth = max(depth, strings.Count(c.Path, "/")+1) // more than any path has: each alone
	}
	groups := group(list, depth)
	for ; len(groups) > most && depth > 1; depth-- {
		groups = group(list, depth-1)
	}
	var out []string
	for _, g := range groups {
		if len(g.list) == 1 {
			out = append(out, g.list[0].text(m))
			continue
		}
		var size int64
		for _, c := range g.list {
			size += max(c.After, 0)
		}
		l := fmt.Sprintf("%s %s below %s", g.how, counted(len(g.list), "object"), policy.Relative(g.dir+"/", m))
		if g.how == "create" || g.how == "change" {
			l += " (" + bytesText(size) + ")"
		}
		if g.list[0].Risk != "" {
			l += "  # " + g.list[0].Risk
		}
		out = append(out, l)
	}
	return out
}

// group joins changes of one kind and risk that lie below the same folder of that depth.
func group(list []change, depth int) []fold {
	at := map[[3]string]int{}
	var out []fold
	for _, c := range list {
		dir := c.Path // alone
		if parts := strings.Split(c.Path, "/"); len(parts) > depth {
			dir = strings.Join(parts[:depth], "/")
		}
		key := [3]string{c.How, dir, c.Risk}
		i, there := at[key]
		if !there {
			i = len(out)
			at[key] = i
			out = append(out, fold{how: c.How, dir: dir})
		}
		out[i].list = append(out[i].list, c)
	}
	return out
}

// riskOf says why a change needs a look first, "" where it does not.
func (j *job) riskOf(c change) string {
	for _, p := range []string{c.Path, c.From} {
		switch {
		case p == "":
		case slices.ContainsFunc(j.plan.Protected, func(g string) bool {
			return p == g || below(p, g) || c.Kind == "folder" && below(g, p) && c.How != "create"
		}):
			return protectedRisk
		case policy.Sensitive(p, j.macros):
			return "sensitive"
		case !slices.ContainsFunc([]string{j.macros.Project, j.w.cwd, j.macros.Cache}, func(d string) bool { return d != "" && (p == d || below(p, d)) }):
			return "outside the project"
		}
	}
	return ""
}
