package mcpserver

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// shelf keeps what did not fit into results for a while, so that a client can read it as a resource. Only the client that a thing was kept for
// can read it. The oldest goes first.
type shelf struct {
	mu     sync.Mutex
	now    func() time.Time
	most   int64 // bytes of one client
	all    int64 // bytes of all
	stays  time.Duration
	byURI  map[string]*keptThing
	order  []*keptThing
	bytes  int64
	client map[string]int64
	last   int64 // number
}

type keptThing struct {
	uri, client, name, mime string
	content                 []byte
	until                   time.Time
	number                  int64 // counts what was kept, from 1
	gone                    bool
}

func newShelf(now func() time.Time) *shelf {
	return &shelf{now: now, most: 32 << 20, all: 128 << 20, stays: 30 * time.Minute, byURI: map[string]*keptThing{}, client: map[string]int64{}}
}

// resourceScheme begins the names of what is kept: psb://run/ID/stdout, psb://run/ID/files/out.csv.
const resourceScheme = "psb://run/"

func (s *shelf) keep(client, run, name, mime string, content []byte) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	size := int64(len(content))
	if size > s.most/2 {
		return "", false
	}
	s.sweep()
	for (s.client[client]+size > s.most || s.bytes+size > s.all) && s.dropOldest(client) {
	}
	if s.client[client]+size > s.most || s.bytes+size > s.all {
		return "", false
	}
	parts := strings.Split(name, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	k := &keptThing{uri: resourceScheme + run + "/" + strings.Join(parts, "/"), client: client, name: name, mime: mime, content: content, until: s.now().Add(s.stays)}
	if old := s.byURI[k.uri]; old != nil {
		s.drop(old)
	}
	s.last++
	k.number = s.last
	s.byURI[k.uri], s.order = k, append(s.order, k)
	s.bytes += size
	s.client[client] += size
	return k.uri, true
}

// read gives what is kept under a name to the client it was kept for.
func (s *shelf) read(client, uri string) (*keptThing, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep()
	k := s.byURI[uri]
	if k == nil || k.client != client {
		return nil, false
	}
	return k, true
}

// list gives at most so many of a client's, the newest first; with before, of those that were kept before that one. More: there are others behind.
func (s *shelf) list(client string, before int64, most int) (list []*keptThing, more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep()
	for _, k := range slices.Backward(s.order) {
		switch {
		case k.gone || k.client != client || before > 0 && k.number >= before:
		case len(list) == most:
			return list, true
		default:
			list = append(list, k)
		}
	}
	return list, false
}

func (s *shelf) drop(k *keptThing) {
	if k.gone {
		return
	}
	k.gone = true
	delete(s.byURI, k.uri)
	s.bytes -= int64(len(k.content))
	if s.client[k.client] -= int64(len(k.content)); s.client[k.client] == 0 {
		delete(s.client, k.client)
	}
}

// dropOldest drops the oldest thing of a client, or, where it has none, nothing.
func (s *shelf) dropOldest(client string) bool {
	for i, k := range s.order {
		if !k.gone && k.client == client {
			s.drop(k)
			s.order = append(s.order[:i:i], s.order[i+1:]...)
			return true
		}
	}
	return false
}

func (s *shelf) sweep() {
	now := s.now()
	for len(s.order) > 0 && (s.order[0].gone || now.After(s.order[0].until)) {
		s.drop(s.order[0])
		s.order = s.order[1:]
	}
}

// newID is a name that nobody can guess: 128 bits.
func newID() string {
	var b [16]byte
	if _, err := rand.Read(b[:]); err != nil {
		panic(fmt.Sprintf("the kernel gives no random bytes: %v", err))
	}
	return base64.RawURLEncoding.EncodeToString(b[:])
}
