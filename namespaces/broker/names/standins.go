package names

import (
	"encoding/binary"
	"net/netip"
	"sync"
)

const (
	// standInFirst is 198.18.1.0: what lies before it in 198.18.0.0/15 (RFC 2544, routed nowhere) is for psb's own use. The last address of the
	// network is left out, as a kernel may take it for a broadcast.
	standInFirst = 198<<24 | 18<<16 | 1<<8
	mostStandIns = 1<<17 - 1<<8 - 1

	mostEach  = 8       // stand-ins of one name: enough for a program to try the next, few enough for one small datagram
	mostNames = 1 << 14 // that have stand-ins; a rule on *.example.com must not let a program make psb grow without end
)

// standIns hands out the addresses that stand for names. None is ever taken back or given to another name: a program may keep an address
// for as long as it runs.
type standIns struct {
	mu    sync.Mutex
	names map[string][]netip.Addr
	means []meaning // by how far the address lies behind the first
	most  int       // addresses
	room  int       // names
}

type meaning struct {
	name  string
	which int
}

func newStandIns() *standIns {
	return &standIns{names: map[string][]netip.Addr{}, most: mostStandIns, room: mostNames}
}

// take gives n addresses that stand for a name, at most 8 and the same ones as before; fewer where no more are left. It is empty where the name
// has none and can get none.
func (s *standIns) take(name string, n int) []netip.Addr {
	s.mu.Lock()
	defer s.mu.Unlock()
	has, known := s.names[name]
	if !known && len(s.names) >= s.room {
		return nil
	}
	n = min(n, mostEach)
	for len(has) < n && len(s.means) < s.most {
		var b [4]byte
		binary.BigEndian.PutUint32(b[:], standInFirst+uint32(len(s.means)))
		s.means = append(s.means, meaning{name, len(has)})
		has = append(has, netip.AddrFrom4(b))
	}
	if len(has) > 0 {
		s.names[name] = has
	}
	n = min(n, len(has))
	return has[:n:n]
}

func (s *standIns) meaning(addr netip.Addr) (name string, which int, ok bool) {
	addr = addr.Unmap()
	if !addr.Is4() {
		return "", 0, false
	}
	b := addr.As4()
	s.mu.Lock()
	defer s.mu.Unlock()
	i := int64(binary.BigEndian.Uint32(b[:])) - standInFirst
	if i < 0 || i >= int64(len(s.means)) {
		return "", 0, false
	}
	return s.means[i].name, s.means[i].which, true
}
