package policy

// Macros holds what the words of a path stand for. All folders are absolute and clean; an empty one is unset,
// and a rule that uses it is an error.
type Macros struct {
	Cwd     string // folder that a policy file's relative name, and a rule of the command line, start from; "" = Project
	Project string // ${project}
	Home    string // ~ : the passwd home
	Tmp     string // ${tmp}
	Python  string // ${python}: folder of the interpreter's prefix
	Venv    string // ${venv}
	Site    string // ${site}
	Cache   string // ${cache}
	Config  string // ${config}
	Data    string // ${data}
	Run     string // ${run}
	Getenv  func(name string) (value string, set bool)
}
