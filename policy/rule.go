package policy

// Origin says where a rule stands: in a file at a line, on the command line, or built in.
type Origin struct {
	File string // as the user named it; "" when the rule comes from no file
	Line int    // from 1; 0 when File is ""
	From string // "command line", "always there", "default", … when File is ""
}

// Pattern is what a rule matches.
type Pattern struct {
	Text   string // as written in the file: "data/", "${cache}/x", "LC_*"
	Object string // expanded: absolute clean path without final "/", or Text itself for tables without paths
	Tree   bool   // the path was written with a final "/": a folder (and for read, write: everything below)
	Glob   bool   // [files] hide only: Object is a glob with literal parts escaped; ask Covers, not ==
	From   string // {from = "…"}: absolute host folder shown at Object; "" when the object is its own place
}

// Rule is one right, or one refusal, with where it was written. A key that holds a list of rights yields one
// rule for each, all with the same Origin.
type Rule struct {
	Op      Op
	Pattern Pattern
	Deny    bool    // the value was false (env, syscalls, import, call) or began with "!" (eval), or Op is hide or deny
	Value   *string // [env] only: the text to set; nil passes the host's value
	Origin  Origin
	Why     string // the comment after the rule, without "# "
}

// Verdict is the one judge's answer, with the rules that decided it.
type Verdict struct {
	Allowed bool
	By      *Rule // the narrowest rule that allows; nil when refused
	Blocker *Rule // a false, hide or deny that stands in the way; nil when there is none
	// Narrower is the deepest line about a place, which takes write or create away from a wider line; nil when none does. Unlike behind a Blocker,
	// Fix helps.
	Narrower *Rule
	Locked   bool // no rule may be added: a file of the policy is locked
	Fix      Rule // the narrowest rule that would allow the access; meaningless when Allowed
}
