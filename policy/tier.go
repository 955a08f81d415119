package policy

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

// Tier says how much care a right asks of whoever accepts it.
type Tier int

// The tiers, from harmless to what learning never grants.
const (
	TierNormal Tier = iota // reads and lists in the project, a variable that is no secret: little can go wrong
	TierWarn               // deserves a human's look
	TierNever              // credentials, start-up files, what runs git: learning's floor refuses it, only a hand can write it
)

// String gives "normal", "warn" or "never".
func (t Tier) String() string { return [...]string{"normal", "warn", "never"}[t] }

// Tally words how many rights there are of each tier, "1 warn, 3 normal"; "" for none.
func Tally(count map[Tier]int) string {
	var words []string
	for t := TierNever; t >= TierNormal; t-- {
		if count[t] > 0 {
			words = append(words, strconv.Itoa(count[t])+" "+t.String())
		}
	}
	return strings.Join(words, ", ")
}

// InHome is why a file written in the home folder itself deserves a look.
const InHome = "in the home folder"

// Risk is what may go wrong with a right, for a comment, a summary or a difference of two policies.
type Risk struct {
	Tier Tier
	Why  string // a few words; "" only for TierNormal
	Mark bool   // learning writes "! Why" behind such a line
}

// TierOf is RiskOf without the mark.
func TierOf(r Rule, m Macros) (Tier, string) {
	risk := RiskOf(r, m)
	return risk.Tier, risk.Why
}

// RiskOf grades a rule. It is the one judgement behind learning's marks, learning's summary and `psb policy diff`. The rule
// need not be expanded: its text is read as that of a file in m.Project then, and a macro without a value counts as a place
// outside. What refuses (false, hide, deny) takes rights away and is harmless. What was seen happening – new code, a folder
// removed – learning adds itself.
func RiskOf(r Rule, m Macros) Risk {
	if r.Deny || r.Op == OpHide || r.Op == OpDeny {
		return Risk{}
	}
	switch {
	case isFileOp(r.Op):
		return fileRisk(placed(r, m), m)
	case isNetOp(r.Op):
		return netRisk(placed(r, m), m)
	}
	switch r.Op {
	case OpEnv:
		return envRisk(r)
	case OpSyscall:
		return Risk{TierWarn, "a kernel call beyond the usual", false}
	case OpCall:
		return callRisk(r.Pattern.Text)
	case OpImport:
		return importRisk(r.Pattern.Text)
	case OpEval:
		return evalRisk(r.Pattern.Text)
	}
	return Risk{}
}

// placed fills in the object of a rule that was not expanded.
func placed(r Rule, m Macros) Rule {
	if r.Pattern.Object != "" {
		return r
	}
	x := expander{value: m.value, base: func(Origin) (string, error) { return m.Project, nil }}
	if err := x.rule(&r); err != nil || r.Pattern.Object == "" { // a macro without a value
		r.Pattern.Object, r.Pattern.Tree = path.Clean("/"+r.Pattern.Text), strings.HasSuffix(r.Pattern.Text, "/")
		if isNetOp(r.Op) {
			r.Pattern.Object = r.Pattern.Text
		}
	}
	return r
}

func fileRisk(r Rule, m Macros) Risk {
	obj, tree := r.Pattern.Object, r.Pattern.Tree
	if r.Pattern.From != "" && path.IsAbs(r.Pattern.From) {
		obj = r.Pattern.From // what is shown counts, not where
	}
	changes := r.Op == OpWrite || r.Op == OpCreate
	if why := onFloor(obj, tree && r.Op != OpList && r.Op != OpCreate, changes, m); why != "" {
		return Risk{TierNever, why, true}
	}
	switch name := path.Base(obj); {
	case r.Op == OpExec:
		return Risk{TierWarn, "runs a program", true}
	case r.Op == OpDevice:
		return Risk{TierWarn, "a device", true}
	case r.Op == OpWrite && !tree && contains(Homes(m), path.Dir(obj)):
		return Risk{TierWarn, InHome, true}
	case SensitiveFile(obj, m):
		return Risk{TierWarn, "sensitive", true}
	case r.Op == OpWrite && tree:
		return Risk{TierWarn, "changes a whole tree", false}
	case r.Op == OpWrite && RunsCode(name) || changes && inToolFolder(obj, m.Project):
		return Risk{TierWarn, "code or settings", false}
	case inside(obj, m.Project, m.Cache, m.Tmp):
		return Risk{}
	case changes:
		return Risk{TierWarn, "changes what lies outside the project", false}
	case obj == "/" || inside(obj, systemData...) || inside(obj, m.Python, m.Venv, m.Site):
		return Risk{}
	}
	return Risk{TierWarn, "outside the project", false}
}

// systemData are the places of the system that hold programs and settings, alike on most machines.
var systemData = []string{"/usr", "/etc", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/opt", "/nix", "/gnu", "/proc", "/sys", "/dev"}

func inside(obj string, folders ...string) bool {
	for _, f := range folders {
		if within(obj, f) {
			return true
		}
	}
	return false
}

// onFloor says in words why learning never grants a right on obj; deep is one on everything below it.
func onFloor(obj string, deep, changes bool, m Macros) string {
	for _, home := range Homes(m) {
		for _, f := range Floor(home) {
			switch {
			case within(obj, f) && within(f, home):
				return "credentials"
			case within(obj, f):
				return "the machine's own secrets"
			case deep && below(f, obj):
				return "holds credentials"
			}
		}
		for _, f := range Guarded(home) {
			if changes && within(obj, f) {
				return "a start-up file"
			}
		}
	}
	switch elems := strings.Split(obj, "/"); {
	case !changes:
	case path.Base(obj) == ".py-sandboxes":
		return "a policy"
	case within(obj, m.Venv):
		return "the virtual environment"
	default:
		for i, e := range elems {
			if e == ".git" && i < len(elems)-1 && sensitiveInGit(elems[i+1:]) {
				return "git runs what stands there"
			}
		}
	}
	return ""
}

func envRisk(r Rule) Risk {
	name := r.Pattern.Text
	switch {
	case SecretName(name):
		return Risk{TierWarn, "a secret", true}
	case Steers(name):
		return Risk{TierWarn, "steers what programs load or run", true}
	case hasGlob(name) && name != "LC_*":
		return Risk{TierWarn, "every variable that fits", false}
	}
	return Risk{}
}

// Steers names variables by which a value from outside makes a program load or run something else.
func Steers(name string) bool {
	switch name {
	case "BASH_ENV", "ENV", "PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONINSPECT", "PYTHONBREAKPOINT", "PYTHONUSERBASE", "NODE_OPTIONS", "PERL5OPT", "PERL5LIB",
		"RUBYOPT", "RUBYLIB", "JAVA_TOOL_OPTIONS", "EDITOR", "VISUAL", "PAGER", "BROWSER", "SHELL", "IFS":
		return true
	}
	return strings.HasPrefix(name, "LD_") || strings.HasPrefix(name, "GIT_") || strings.HasPrefix(name, "DYLD_")
}

func netRisk(r Rule, m Macros) Risk {
	n, err := parseNet(r.Pattern.Object)
	switch {
	case err != nil: // a macro without a value
		return Risk{TierWarn, "reaches the network", false}
	case n.unix != "":
		return socketRisk(n.unix, m)
	case r.Op == OpListen && n.loopback():
		return Risk{}
	case r.Op == OpListen:
		return Risk{TierWarn, "others on the network can reach it", true}
	case n.prefix.IsSingleIP() && Metadata(n.prefix.Addr()) || MetadataName(n.name):
		return Risk{TierNever, "a cloud's credentials", true}
	case r.Op == OpPrivate:
		return Risk{TierWarn, "leads into the own networks", true}
	case n.loopback():
		return Risk{TierWarn, "a server of this machine", true}
	case n.prefix.IsSingleIP() && Inward(n.prefix.Addr()):
		return Risk{TierWarn, "an address of the own networks", true}
	case n.any:
		return Risk{TierWarn, "any host", true}
	case sensitiveAddress(n):
		return Risk{TierWarn, "sensitive", true}
	case n.suffix != "":
		return Risk{TierWarn, "every host of that name", false}
	case n.prefix.IsValid() && !n.prefix.IsSingleIP():
		return Risk{TierWarn, "a whole network", false}
	}
	return Risk{TierWarn, "reaches the network", false}
}

func socketRisk(sock string, m Macros) Risk {
	switch power := SocketPower(sock, m); {
	case power != "":
		return Risk{TierWarn, power, true}
	case strings.HasPrefix(sock, "/") && onFloor(sock, false, false, m) != "":
		return Risk{TierNever, "credentials", true}
	case strings.HasPrefix(sock, "/") && SensitiveFile(sock, m):
		return Risk{TierWarn, "sensitive", true}
	}
	return Risk{TierWarn, "a server outside the box", false}
}

// loopback says whether the pattern names the own machine alone.
func (n netPattern) loopback() bool {
	return n.name == "localhost" || n.prefix.IsValid() && n.prefix.Addr().IsLoopback() && (n.prefix.Bits() >= 8 && n.prefix.Addr().Is4() || n.prefix.IsSingleIP())
}

// SensitiveFile is Sensitive for a file by its absolute path, more generous about names: what is called like a secret is taken for one.
func SensitiveFile(object string, m Macros) bool {
	n := strings.ToLower(path.Base(object))
	return Sensitive(object, m) || strings.HasPrefix(n, ".env") || strings.HasPrefix(n, "id_") || strings.HasSuffix(n, ".pem") ||
		strings.HasSuffix(n, ".p12") || strings.HasSuffix(n, ".kdbx") || SecretName(path.Base(object))
}

// toolFolders hold what other programs run or obey that work on a project: editors, builds of others, hooks.
var toolFolders = []string{".github", ".gitlab", ".circleci", ".vscode", ".idea", ".devcontainer", ".husky"}

func inToolFolder(obj, project string) bool {
	return inside(obj, project) && slices.ContainsFunc(strings.Split(strings.TrimPrefix(obj, project), "/"), func(name string) bool {
		return contains(toolFolders, name)
	})
}

// RunsCode reports a file's name that something else will run or read as settings: Python source, path files, dot names, what builds, tests and
// installs go by.
func RunsCode(name string) bool {
	switch path.Ext(name) {
	case ".py", ".pth", ".pyc", ".so", ".sh", ".mk":
		return true
	}
	switch strings.ToLower(name) {
	case "makefile", "gnumakefile", "justfile", "dockerfile", "vagrantfile", "jenkinsfile", "rakefile", "cmakelists.txt", "pyproject.toml", "setup.cfg",
		"tox.ini", "pytest.ini", "package.json", "requirements.txt", "pipfile":
		return true
	}
	return strings.HasPrefix(name, ".")
}
