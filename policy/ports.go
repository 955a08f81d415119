package policy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// portRange is a run of ports, both ends included.
type portRange struct{ lo, hi int }

// ports are those of one address of [net], as written: runs in any order, which may overlap, because a list says only
// which ports are meant. Port 0, "any free one", stands alone.
type ports []portRange

// What Linux gives to a program that asks for any free port: net.ipv4.ip_local_port_range as it comes.
const (
	firstFree = 32768
	lastFree  = 60999
)

var (
	everyPort = ports{{1, 65535}}
	freePorts = ports{{firstFree, lastFree}}
)

// parsePorts reads "443", "1-1024", "80,443,8000-8100" or "*".
func parsePorts(s string) (ports, error) {
	if s == "*" {
		return everyPort, nil
	}
	var p ports
	words := strings.Split(s, ",")
	for _, word := range words {
		if word == "*" {
			return nil, fmt.Errorf("a * stands alone: it means every port")
		}
		a, b, isRange := strings.Cut(word, "-")
		lo, err := onePort(a)
		if err != nil {
			return nil, err
		}
		hi := lo
		if isRange {
			if hi, err = onePort(b); err != nil {
				return nil, err
			}
		}
		switch {
		case isRange && (lo > hi || lo == 0):
			return nil, fmt.Errorf("port range %q is empty or starts at 0", word)
		case lo == 0 && len(words) > 1:
			return nil, fmt.Errorf("port 0 stands alone: it means any free port")
		}
		p = append(p, portRange{lo, hi})
	}
	return p, nil
}

func onePort(s string) (int, error) {
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil || s != strconv.FormatUint(n, 10) {
		return 0, fmt.Errorf("%q is no port: write a number up to 65535, a range such as 1-1024, a list such as 80,443, or *", s)
	}
	return int(n), nil
}

// single says whether one port is named.
func (p ports) single() bool { return len(p) == 1 && p[0].lo == p[0].hi }

// anyFree says whether the port is 0, "any free one", which only listen can ask for.
func (p ports) anyFree() bool { return len(p) == 1 && p[0].hi == 0 }

// hold says whether every port asked for is among p. Any free port is one of those that the kernel gives out, asked for or
// allowed: who is told such a number, as the kernel of a notebook is, asks for just that one.
func (p ports) hold(asked ports) bool {
	if p.anyFree() {
		p = freePorts
	}
	if asked.anyFree() {
		asked = freePorts
	}
	return len(asked.minus(p)) == 0
}

// meet says whether some port is among both.
func (p ports) meet(q ports) bool {
	if p.anyFree() {
		p = freePorts
	}
	if q.anyFree() {
		q = freePorts
	}
	return p.minus(q).size() < p.size()
}

// merged gives the same ports in order, in as few runs as there are.
func (p ports) merged() ports {
	sorted := slices.Clone(p)
	slices.SortFunc(sorted, func(a, b portRange) int { return a.lo - b.lo })
	var out ports
	for _, r := range sorted {
		if last := len(out) - 1; last >= 0 && r.lo <= out[last].hi+1 {
			out[last].hi = max(out[last].hi, r.hi)
		} else {
			out = append(out, r)
		}
	}
	return out
}

// minus gives the ports of p that are not in q.
func (p ports) minus(q ports) ports {
	left := p.merged()
	for _, cut := range q.merged() {
		var rest ports
		for _, r := range left {
			if cut.hi < r.lo || r.hi < cut.lo {
				rest = append(rest, r)
				continue
			}
			if r.lo < cut.lo {
				rest = append(rest, portRange{r.lo, cut.lo - 1})
			}
			if cut.hi < r.hi {
				rest = append(rest, portRange{cut.hi + 1, r.hi})
			}
		}
		left = rest
	}
	return left
}

// size counts the ports.
func (p ports) size() int {
	if p.anyFree() {
		p = freePorts
	}
	n := 0
	for _, r := range p.merged() {
		n += r.hi - r.lo + 1
	}
	return n
}

// String writes the ports in their one form, sorted and merged.
func (p ports) String() string {
	m := p.merged()
	if slices.Equal(m, everyPort) {
		return "*"
	}
	var words []string
	for _, r := range m {
		word := strconv.Itoa(r.lo)
		if r.hi > r.lo {
			word += "-" + strconv.Itoa(r.hi)
		}
		words = append(words, word)
	}
	return strings.Join(words, ",")
}
