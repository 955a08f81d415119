package plan

// Stage is one act of a launch.
type Stage string

// Side says which half acts.
type Side string

// The two sides of a launch.
const (
	Outside Side = "outside"
	Inside  Side = "inside"
)

// Step is one stage with where it runs and why it stands there.
type Step struct {
	Stage Stage
	Side  Side
	Why   string
}

// Order is the one order of a launch: `psb explain` prints it, the stages inside are built in it.
var Order = [...]Step{
	{"cgroup", Outside, "limits bind the program's first instruction; joined while the root is built"},
	{"namespaces", Outside, "made by the clone itself"},
	{"mounts", Inside, "Landlock forbids mount(2)"},
	{"rlimits", Inside, "the filter may refuse prlimit(2)"},
	{"capabilities", Inside, "mounts needed them, nothing after does"},
	{"no-new-privs", Inside, "Landlock and seccomp both require it"},
	{"landlock", Inside, "its own calls must not meet the filter"},
	{"seccomp", Inside, "everything before it may use any call"},
	{"exec", Inside, "replaces the process and leaves nothing of psb behind"},
}
