package report

// Audit is what an audited run would have done.
type Audit struct {
	Changes  []Change `json:"changes"` // those that deserve a look first
	Wanted   []Wanted `json:"accesses"`
	LookedUp []string `json:"looked_up"`         // names that were asked for and never connected to
	Refused  []string `json:"refused"`           // what even an audit does not let pass
	Failed   []string `json:"failed"`            // what the system's own permissions, or a folder that was read-only, kept from it
	Missed   []string `json:"missed"`            // what could not be looked at
	Policy   string   `json:"policy"`            // what the program would need
	Partial  string   `json:"partial,omitempty"` // why the run did not end by itself
}

// Change is one change to files that an audited run made where it is not real.
type Change struct {
	How    string `json:"how"`  // create change delete rename chmod touch
	Kind   string `json:"kind"` // file folder link fifo socket other
	Path   string `json:"path"`
	From   string `json:"from,omitempty"` // of a rename
	Link   string `json:"link,omitempty"` // text of a link
	Before int64  `json:"bytes_before"`   // -1: not known or none
	After  int64  `json:"bytes_after"`
	Mode   string `json:"mode,omitempty"` // of a chmod
	Held   int    `json:"held,omitempty"` // objects in a folder that was removed, as far as counted
	Risk   string `json:"risk,omitempty"` // why it deserves a look
}

// Wanted is something that an audited run read, ran or asked for.
type Wanted struct {
	Op      string `json:"op"`
	Object  string `json:"object"` // as a policy would name it
	Risk    string `json:"risk,omitempty"`
	Because string `json:"because,omitempty"`
}

func (a *Audit) whole() *Audit {
	if a == nil {
		return nil
	}
	w := *a
	some(&w.Changes)
	some(&w.Wanted)
	some(&w.LookedUp)
	some(&w.Refused)
	some(&w.Failed)
	some(&w.Missed)
	return &w
}

// lines puts an audit one thing a line: change, access, looked_up, audit_refused, audit_failed, missed, needed_policy.
func (a *Audit) lines(w *lines) {
	if a == nil {
		return
	}
	addAll(w, "change", a.Changes)
	addAll(w, "access", a.Wanted)
	w.texts("looked_up", "name", a.LookedUp)
	w.texts("audit_refused", "what", a.Refused)
	w.texts("audit_failed", "what", a.Failed)
	w.texts("missed", "what", a.Missed)
	w.add("needed_policy", map[string]string{"text": a.Policy, "partial": a.Partial})
}

// audited are the findings of an audit: a warning for what deserves a look, a note for the rest.
func (r *Report) audited() []finding {
	if r.Audit == nil {
		return nil
	}
	var out []finding
	add := func(rule, words, object, risk string, at place) {
		f := finding{rule: "audit/" + rule, level: "note", object: object, name: "would " + words + " " + object, at: at}
		if f.title = f.name; risk != "" {
			f.level = "warning"
			f.title += " ! " + risk
		}
		out = append(out, f)
	}
	for _, c := range r.Audit.Changes {
		at := r.anywhere()
		if name, ok := r.inside(c.Path); ok && c.How != "create" {
			at = place{name, 1}
		}
		add(c.How, c.How, r.relative(c.Path), c.Risk, at)
	}
	for _, w := range r.Audit.Wanted {
		add(w.Op, w.Op, w.Object, w.Risk, r.anywhere())
	}
	for _, n := range r.Audit.LookedUp {
		add("look-up", "look up", n, "asks for a name", r.anywhere())
	}
	return out
}
