package report

import "strings"

// tried words each operation for a reader who knows nothing of psb.
var tried = map[string]string{
	"read":    "read a file or folder",
	"write":   "change a file",
	"create":  "make a name in a folder",
	"list":    "see the names in a folder",
	"exec":    "start a program",
	"device":  "open a device",
	"env":     "read a variable of the environment",
	"connect": "connect to a host or server",
	"private": "connect to a name that leads into the own networks",
	"listen":  "serve on a port",
	"syscall": "make a kernel call",
	"call":    "make a call of the floor",
	"import":  "import a module",
	"eval":    "use something in evaluated text",
}

// describe is the short and the long description of a rule of findings.
func describe(rule string) (short, help string) {
	kind, name, _ := strings.Cut(rule, "/")
	what := tried[name]
	if what == "" {
		what = name
	}
	switch kind {
	case "denied":
		if name == "more" {
			return "More was refused than the report holds", "A program may try for ever: beyond a bound refusals are only counted."
		}
		return "The program tried to " + what + ", and no rule allows it",
			"If it needs it, add the rule of the hint to .py-sandboxes and have that line reviewed. If nobody expected it, ask what changed: the program, or something it depends on."
	case "gap":
		return "This host cannot do what the policy asks for: " + name, "psb doctor says what is missing and how to get it; --allow-gap " + name + " goes on without it."
	case "limit":
		return "The limit " + name + " was reached", "Raise the line in [limits], or find out why the program takes more than it did."
	case "planted":
		return "The program wrote a file that would be trusted", "A policy, a start-up file or a hook that a program makes counts for nothing until somebody accepts it. Look at it before you do."
	case "learned":
		return "Learning lets the program " + what, "Read the line before you commit it, first those marked !."
	case "audit":
		return "Run for real, the program would " + what, "Nothing of it happened. Read what deserves a look before you let the program run for real."
	case "floor":
		return "While learning the program tried to " + what + ", which is never granted", "Credential stores, start-up files, metadata addresses and the like stay closed while learning."
	case "refused":
		if name != "" {
			return "While learning the program tried to " + what + " and was refused", "The box or the system refused it, and no rule came of it."
		}
		return "psb refused to run the program, or failed", "Nothing was started, or what was to be written at the end is missing."
	}
	return rule, rule
}
