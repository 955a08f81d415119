package plan

// Kind says what a host object is.
type Kind uint8

// Kinds of host objects. Absent is the zero Kind.
const (
	Absent Kind = iota
	File
	Dir
	Device
	Other // sockets, FIFOs
)

// Link is one symbolic link met while a path was resolved.
type Link struct {
	At   string // where it stands, itself free of links
	Text string // what it holds
}

// Object is a host path resolved once.
type Object struct {
	Asked    string
	Path     string // free of links; of an absent object, the resolved parent joined with what is missing
	Kind     Kind
	Links    []Link // in the order met
	Dev, Ino uint64
	UID, GID uint32
	Mode     uint32 // permission bits
	Modified uint64 // nanoseconds since 1970
	Err      string // why it could not be looked at ("" when it could, or is absent): a loop, no permission
}

// Entry is one name of a folder.
type Entry struct {
	Name string
	Kind Kind
	Link string // text of a symbolic link; then Kind is Other
}

// Look asks the host. Compile itself touches nothing: tests give it a tree of their own.
type Look interface {
	// Resolve follows path the way open(2) would.
	Resolve(path string) Object
	// Entries lists a folder, sorted by name, without "." and "..".
	Entries(dir string) ([]Entry, error)
	// Walk calls visit for every object below dir (dir itself excluded), links not followed, until visit says stop or limit objects
	// were seen; complete is false when the limit ended it or a folder could not be read.
	Walk(dir string, limit int, visit func(path string, kind Kind) (enter bool)) (complete bool)
	// Text gives at most limit bytes of a regular file, "" when it cannot be read.
	Text(path string, limit int) string
	// IDMap says whether the file system of path can be shown by an id-mapped mount; asked as real root only.
	IDMap(path string) bool
}
