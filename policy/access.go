package policy

// Op is the kind of one access: the verb of the grammar "OP OBJECT" that denials, hints, `psb policy add`
// and --allow share.
type Op string

// The operations a policy can speak of. Those on files are rights of the [files] table.
const (
	OpRead   Op = "read"   // read a file, or a tree (object ends in "/")
	OpWrite  Op = "write"  // change bytes; implies read; on a tree also create, replace, delete, rename below it
	OpCreate Op = "create" // make new names in one folder and write them
	OpList   Op = "list"   // read the names of one folder
	OpExec   Op = "exec"   // execve(2) of a file; implies reading it
	OpHide   Op = "hide"   // never visible, wins over every grant
	OpDevice Op = "device" // open a node under /dev

	OpConnect Op = "connect" // [net]
	OpPrivate Op = "private" // [net]: a connect by name may lead to an address of the own machine or its networks
	OpListen  Op = "listen"  // [net]
	OpDeny    Op = "deny"    // [net], wins over the others

	OpEnv     Op = "env"     // [env]: a variable's name
	OpSyscall Op = "syscall" // [syscalls]: a kernel call's name
	OpImport  Op = "import"  // [python.import]: a dotted module name
	OpCall    Op = "call"    // [python.call]: a category or function of the registry
	OpEval    Op = "eval"    // [python.eval]: KEY:NAME, "call:len"; of a named profile PROFILE/KEY:NAME, "calc/syntax:BinOp"
)

// Access is one thing asked for: an operation on an object. The object is canonical: an absolute clean path
// (with a final "/" for a folder as a tree), "host:port", "udp://host:port", "unix:/path", a variable's name.
// The zero Access asks nothing. Accesses are comparable and may key a map.
type Access struct {
	Op     Op
	Object string
}

// String gives the grammar's form, "read /etc/hosts", unquoted.
func (a Access) String() string { return string(a.Op) + " " + a.Object }
