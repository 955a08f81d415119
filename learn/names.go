package learn

import (
	"regexp"
	"strconv"
	"strings"
)

// Names that change from run to run. They are looked for only among names that the run itself made.
var (
	tempName  = regexp.MustCompile(`^(\.?tmp[-_.]?)[a-z0-9_]{6,}`) // tempfile.mkstemp, mkdtemp
	uuidName  = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	dateName  = regexp.MustCompile(`(19|20)\d\d[-_.](0\d|1[0-2])[-_.]([0-2]\d|3[01])`)
	digitRuns = regexp.MustCompile(`\d+`)
	hexRun    = regexp.MustCompile(`[0-9a-f]{8,}`)
	shard     = regexp.MustCompile(`^[0-9a-f]{1,3}$`)
)

// smallestPID is the least process id that is looked for in names: those of a box start at 1, and "part2.csv" is no process.
const smallestPID = 1000

// perRun reports whether a name looks made up for one run: random, a hash, a time, a process id.
func perRun(name string, pids map[int]bool) bool {
	if tempName.MatchString(name) || uuidName.MatchString(name) || dateName.MatchString(name) {
		return true
	}
	for _, run := range digitRuns.FindAllString(name, -1) {
		if len(run) >= 8 { // a time in seconds, a date without marks, an object's address
			return true
		}
		if n, err := strconv.Atoi(run); err == nil && n >= smallestPID && pids[n] {
			return true
		}
	}
	return hashLike(name)
}

// hashLike reports a run of eight or more hexadecimal digits with at least two letters and two figures among them.
func hashLike(name string) bool {
	for _, run := range hexRun.FindAllString(strings.ToLower(name), -1) {
		figures := len(digitRuns.ReplaceAllString(run, ""))
		if figures >= 2 && len(run)-figures >= 2 {
			return true
		}
	}
	return false
}
