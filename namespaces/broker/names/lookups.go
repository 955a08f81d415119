package names

import (
	"context"
	"errors"
	"maps"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"
)

const (
	// patience is how long one question waits for the host. Resolvers ask again after 5 seconds and give up after 10.
	patience = 10 * time.Second

	keepFound  = 5 * time.Second // long enough for A, AAAA and the connect that follows to be one look-up
	keepFailed = time.Second     // long enough for a resolver's immediate second try

	mostLookups   = 64   // the host is asked for at the same time; the rest waits
	mostKept      = 4096 // names whose outcome is kept
	mostAddresses = 64   // of one name; a resolver that gives more is not followed
)

// lookups asks the host, once for all who want the same name at the same time, and keeps what it said for a moment.
type lookups struct {
	ask   Lookup
	slots chan struct{}

	mu       sync.Mutex
	kept     map[string]outcome
	underway map[string]*lookup
}

// outcome is what a look-up led to, and until when that may be said again; the zero time is "not again".
type outcome struct {
	addrs []netip.Addr
	err   error
	until time.Time
}

// lookup is one that is under way. Its outcome may be read once done is closed.
type lookup struct {
	outcome
	done   chan struct{}
	askers int // guarded by lookups.mu
	cancel context.CancelFunc
}

func newLookups(ask Lookup) *lookups {
	return &lookups{ask: ask, slots: make(chan struct{}, mostLookups), kept: map[string]outcome{}, underway: map[string]*lookup{}}
}

// addresses answers from what is kept even where ctx has ended, and else begins nothing then.
func (l *lookups) addresses(ctx context.Context, name string) ([]netip.Addr, error) {
	l.mu.Lock()
	if o, ok := l.kept[name]; ok && time.Now().Before(o.until) {
		l.mu.Unlock()
		return slices.Clone(o.addrs), o.err
	}
	if ctx.Err() != nil {
		l.mu.Unlock()
		return nil, notKnown(ctx, name)
	}
	one := l.underway[name]
	if one == nil {
		one = l.begin(ctx, name)
	}
	one.askers++
	l.mu.Unlock()

	// Each asker has its own patience: a look-up that was begun for another one may have less left, never more.
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case <-one.done:
		return slices.Clone(one.addrs), one.err
	case <-ctx.Done():
		l.leave(name, one)
		return nil, notKnown(ctx, name)
	}
}

// begin starts a look-up that goes on for as long as anyone waits for it, not only the first. The caller holds mu.
func (l *lookups) begin(ctx context.Context, name string) *lookup {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	one := &lookup{done: make(chan struct{}), cancel: cancel}
	l.underway[name] = one
	go func() {
		defer cancel()
		one.outcome = l.look(ctx, name)
		l.mu.Lock()
		if l.underway[name] == one { // else everyone has left, and it was cancelled
			delete(l.underway, name)
			l.keep(name, one.outcome)
		}
		l.mu.Unlock()
		close(one.done)
	}()
	return one
}

func (l *lookups) leave(name string, one *lookup) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if one.askers--; one.askers > 0 {
		return
	}
	one.cancel()
	if l.underway[name] == one {
		delete(l.underway, name)
	}
}

func (l *lookups) look(ctx context.Context, name string) outcome {
	select {
	case l.slots <- struct{}{}:
		defer func() { <-l.slots }()
	case <-ctx.Done():
		return outcome{err: notKnown(ctx, name)} // nothing was asked, so there is nothing to keep
	}
	found, err := l.ask(ctx, name)
	if err != nil {
		return outcome{err: dnsError(err, name), until: time.Now().Add(keepFailed)}
	}
	var addrs []netip.Addr
	for _, a := range found {
		// A zone is an interface of the host, and ::ffff:1.2.3.4 must not pass for something else than 1.2.3.4.
		if a = a.Unmap().WithZone(""); a.IsValid() && len(addrs) < mostAddresses && !slices.Contains(addrs, a) {
			addrs = append(addrs, a)
		}
	}
	if len(addrs) == 0 {
		return outcome{err: noSuchHost(name), until: time.Now().Add(keepFailed)}
	}
	return outcome{addrs: addrs, until: time.Now().Add(keepFound)}
}

// keep is called with mu held.
func (l *lookups) keep(name string, o outcome) {
	now := time.Now()
	if !now.Before(o.until) {
		return
	}
	if len(l.kept) >= mostKept {
		maps.DeleteFunc(l.kept, func(_ string, o outcome) bool { return !now.Before(o.until) })
		if len(l.kept) > mostKept/2 { // or each name to come would walk over nearly all of them again
			clear(l.kept)
		}
	}
	l.kept[name] = o
}

func noSuchHost(name string) error {
	return &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

// notKnown is the error of a question whose ctx ended before there was an answer.
func notKnown(ctx context.Context, name string) error {
	return &net.DNSError{Err: ctx.Err().Error(), Name: name, IsTimeout: errors.Is(ctx.Err(), context.DeadlineExceeded), IsTemporary: true, UnwrapErr: ctx.Err()}
}

// dnsError makes a look-up's error one that says either that there is no such name or that it is not known.
func dnsError(err error, name string) error {
	var d *net.DNSError
	if !errors.As(err, &d) {
		return &net.DNSError{Err: err.Error(), Name: name, IsTemporary: true, UnwrapErr: err}
	}
	e := *d
	e.Name, e.IsTemporary = name, !d.IsNotFound
	return &e
}
