package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"psb/mcpserver"
	"psb/policy"
	"psb/policy/plan"
)

// defaultProfile is the profile of calls that name none: the built-in policy, unless the operator's folder has one of that name.
const defaultProfile = "default"

// isProfileName: a word that needs no quotes anywhere.
func isProfileName(s string) bool {
	return s != "" && len(s) <= 64 && s[0] != '_' && s[0] != '-' &&
		strings.IndexFunc(s, func(r rune) bool { return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_' || r == '-') }) < 0
}

// newColdRunner reads the profiles, finds their interpreters by reading files, and tries what the host can hold. Nothing is started.
func newColdRunner(w *world, o *mcpOptions, ceilings mcpserver.Ceilings) (*coldRunner, error) {
	r := &coldRunner{homes: newNurseries(o.warmFor), known: map[string]*knownProfile{}, gaps: o.allowGaps}
	r.offer = mcpserver.Offer{Version: version, Ceilings: ceilings, Networks: []string{"none"}, Cold: true}
	var err error
	if r.values, r.offer.Names, err = readValues(w, o.values); err != nil {
		return nil, err
	}
	list, err := readProfiles(w, o)
	if err != nil {
		return nil, err
	}
	connects := false
	for _, name := range sortedProfiles(sortedNames(list)) {
		k := &knownProfile{base: list[name], read: func(p boxProfile) (*profileFacts, *job, error) { return describeProfile(w, o, p) }}
		about, j, err := k.load()
		if err != nil {
			return nil, err
		}
		r.known[name] = k
		r.offer.Profiles = append(r.offer.Profiles, about.Profile)
		connects = connects || about.connects
		if name == defaultProfile {
			r.offer.Python, r.offer.Layers, r.offer.Missing = about.Profile.Python, j.walls(), j.lacking()
		}
	}
	if connects {
		r.offer.Networks = append(r.offer.Networks, "profile")
	}
	return r, nil
}

func sortedNames[V any](m map[string]V) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	return out
}

// readProfiles reads the folder, and every policy in it with its includes.
func readProfiles(w *world, o *mcpOptions) (map[string]boxProfile, error) {
	list := map[string]boxProfile{defaultProfile: {Name: defaultProfile, Python: o.python, Folder: "/"}}
	if o.profiles == "" {
		return list, nil
	}
	dir := absolute(w.cwd, o.profiles)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, refuse("psb mcp --profiles DIR", "--profiles %s: %v", plainText(o.profiles), unwrapPath(err))
	}
	found := 0
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), policyName)
		if !ok || name == "" {
			continue
		}
		if !isProfileName(name) {
			return nil, refuse("a name of a-z 0-9 _ -", "--profiles: %s: no name for a profile", plainText(e.Name()))
		}
		found++
		list[name] = boxProfile{Name: name, Python: o.python, Policy: filepath.Join(dir, e.Name()), Folder: dir}
	}
	if found == 0 {
		return nil, refuse("put NAME.py-sandboxes there", "--profiles %s: no policy in it", plainText(o.profiles))
	}
	return list, nil
}

// profileFacts is what is known of a profile.
type profileFacts struct {
	mcpserver.Profile
	python   string
	connects bool
	texts    map[string][]byte // of its policy, by the names that were asked for
	seen     *sightings        // of those files
	early    bool              // its boxes may be made before their call: no limit of theirs counts from their start
	fewer    bool              // max_processes of a box that was made may be lowered
}

// describeProfile works a profile out as a call would, without limits of a call, and tells what clients may know of it.
func describeProfile(w *world, o *mcpOptions, p boxProfile) (*profileFacts, *job, error) {
	quiet := *w
	quiet.cwd, quiet.seen, quiet.env = "/", newSightings(), ownEnvironment(w.env)
	j := &job{w: &quiet, opts: options{python: p.Python, provider: "namespaces"}, where: whereabouts{project: p.Folder}, look: newLook(quiet.seen)}
	j.facts = probe(j.w, false)
	j.setOperatorMacros(w)
	about := &profileFacts{Profile: mcpserver.Profile{Name: p.Name}, texts: map[string][]byte{}, seen: newSightings()}
	if p.Policy == "" {
		if err := j.boxPolicy(&boxOrder{Profile: p}); err != nil {
			return nil, nil, err
		}
		about.About = "psb's own policy: the interpreter, its packages and the usual tools, nothing of the host"
	} else if err := j.readProfile(p, about); err != nil {
		return nil, nil, err
	}
	j.opts.python = j.interpreterOf(o)
	if err := j.findPython(); err != nil {
		return nil, nil, err
	}
	j.setOperatorMacros(w)
	if err := j.expand(); err != nil {
		return nil, nil, err
	}
	about.python, about.Profile.Python, about.Packages = j.opts.python, j.layout.Version, packagesOf(j.layout.Sites)
	_, fromStart := j.policy.Limits["cpu_time"]
	about.early, about.fewer = !fromStart, j.lowersLater("pids")
	return about, j, nil
}

// interpreterOf: the profile's own policy names it, else the operator.
func (j *job) interpreterOf(o *mcpOptions) string {
	if own := j.written.Sandbox.Python; own != "" {
		return own
	}
	if o.python != "" && strings.ContainsRune(o.python, '/') {
		return absolute(j.w.cwd, o.python)
	}
	return o.python
}

// readProfile reads a policy of the operator's, keeps its texts, and says what it grants.
func (j *job) readProfile(p boxProfile, about *profileFacts) error {
	read := func(name string) ([]byte, error) {
		about.seen.contentBehind(name)
		b, err := policy.ReadFile(name)
		if err == nil {
			about.texts[name] = b
		}
		return b, err
	}
	written, err := policy.Load(read, p.Policy, j.macros)
	if err != nil {
		var pe *policy.ParseError
		if errors.As(err, &pe) || errors.Is(err, fs.ErrPermission) {
			return refuse("psb policy --policy FILE check", "%s", err)
		}
		return refuse("", "profile %s: %s", p.Name, err)
	}
	j.written = written
	j.where.policy, j.where.exists, j.where.named = p.Policy, true, true
	for _, r := range written.Rules {
		about.connects = about.connects || !r.Deny && (r.Op == policy.OpConnect || r.Op == policy.OpListen)
		if len(about.Grants) < 200 {
			about.Grants = append(about.Grants, r.String())
		}
	}
	if first, ok := strings.CutPrefix(string(about.texts[p.Policy]), "# "); ok {
		line, _, _ := strings.Cut(first, "\n")
		about.About = plainLine(line)
	}
	return j.checkTrust()
}

// lacking is what this host cannot hold, in words that tell nothing of its folders.
func (j *job) lacking() []string {
	var out []string
	for _, name := range policy.LimitNames() {
		if j.facts.host.Limits[name] == "" {
			continue
		}
		held := plan.Substitute(name)
		if held == "" {
			held = "nothing"
		}
		out = append(out, "limit "+name+": held by "+held)
	}
	if !j.facts.host.UserNS && !j.facts.host.PlainNS {
		out = append(out, "namespaces")
	}
	if j.facts.landlock.ABI == 0 {
		out = append(out, "landlock")
	}
	if !j.facts.host.Seccomp {
		out = append(out, "seccomp")
	}
	return out
}
