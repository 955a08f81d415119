package names

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// These tests run on synctest's clock, which stands still while anything can happen: the seconds in them are exact, and pass at once.

// held is a host that answers when it is let go.
type held struct {
	release chan struct{}
	calls   atomic.Int32
	most    atomic.Int32 // at the same time
	now     atomic.Int32
}

func (h *held) lookup(ctx context.Context, name string) ([]netip.Addr, error) {
	h.calls.Add(1)
	h.most.Store(max(h.most.Load(), h.now.Add(1)))
	defer h.now.Add(-1)
	select {
	case <-h.release:
		return addresses("192.0.2.1"), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func TestOneLookupForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &held{release: make(chan struct{})}
		l := newLookups(h.lookup)
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				if addrs, err := l.addresses(t.Context(), "a"); err != nil || len(addrs) != 1 {
					t.Errorf("%v, %v", addrs, err)
				}
			})
		}
		time.Sleep(5 * time.Second) // when resolvers ask again
		all.Go(func() {
			if addrs, err := l.addresses(t.Context(), "a"); err != nil || len(addrs) != 1 {
				t.Errorf("the second try: %v, %v", addrs, err)
			}
		})
		synctest.Wait()
		close(h.release)
		all.Wait()
		if n := h.calls.Load(); n != 1 {
			t.Errorf("%d look-ups", n)
		}
	})
}

// What is handed out is the asker's own: changing it changes nothing for others.
func TestAddressesAreCopies(t *testing.T) {
	h := newHost()
	l := newLookups(h.lookup)
	for range 3 {
		addrs, err := l.addresses(t.Context(), "six.example")
		if err != nil || addrs[0] != netip.MustParseAddr("2001:db8::6") {
			t.Errorf("%v, %v", addrs, err)
		}
		addrs[0] = netip.Addr{}
	}
}

func TestKept(t *testing.T) {
	for _, row := range []struct {
		name string
		keep time.Duration
	}{{"pypi.org", keepFound}, {"none.example", keepFailed}, {"broken.example", keepFailed}} {
		synctest.Test(t, func(t *testing.T) {
			h := newHost()
			l := newLookups(h.lookup)
			first, firstErr := l.addresses(t.Context(), row.name)
			time.Sleep(row.keep - time.Nanosecond)
			ended, end := context.WithCancel(t.Context())
			end()
			again, againErr := l.addresses(ended, row.name) // needs no waiting, so it is said
			if fmt.Sprint(first, firstErr) != fmt.Sprint(again, againErr) || len(h.asked) != 1 {
				t.Errorf("%s: %v, %v, then %v, %v after %d look-ups", row.name, first, firstErr, again, againErr, len(h.asked))
			}
			time.Sleep(time.Nanosecond)
			_, err := l.addresses(ended, row.name)
			synctest.Wait()
			if d, ok := errors.AsType[*net.DNSError](err); !ok || !d.IsTemporary || d.IsNotFound || !errors.Is(err, context.Canceled) || len(h.asked) != 1 {
				t.Errorf("%s: %v, %d look-ups, with no time to ask", row.name, err, len(h.asked))
			}
			l.addresses(t.Context(), row.name)
			if len(h.asked) != 2 {
				t.Errorf("%s: %d look-ups once it is no longer kept", row.name, len(h.asked))
			}
		})
	}
}

// A dead host is waited for as long as resolvers wait, and then it is not known whether the name exists.
func TestPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &held{}
		s := New(Config{Ruled: func(string) bool { return true }, Lookup: h.lookup})
		begin := time.Now()
		m := parse(t, s.Answer(t.Context(), message("a.", dnsmessage.TypeA), mostPacket))
		if took := time.Since(begin); m.RCode != failure || took != patience {
			t.Errorf("%v after %v", m.RCode, took)
		}
		synctest.Wait()
		if n := h.now.Load(); n != 0 {
			t.Errorf("%d look-ups go on", n)
		}
	})
}

// A Lookup that breaks its word and does not end holds no one up.
func TestDeafLookup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		l := newLookups(func(context.Context, string) ([]netip.Addr, error) { <-release; return addresses("192.0.2.1"), nil })
		for range 2 {
			begin := time.Now()
			_, err := l.addresses(t.Context(), "a")
			if d, ok := errors.AsType[*net.DNSError](err); !ok || !d.IsTimeout || !d.IsTemporary || time.Since(begin) != patience {
				t.Errorf("%v after %v", err, time.Since(begin))
			}
		}
		close(release)
	})
}

// The first asker may leave; the look-up ends when the last one does, and is then no one's.
func TestAskersLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &held{release: make(chan struct{})}
		l := newLookups(h.lookup)
		var askers [2]context.CancelFunc
		var errs [2]error
		var all sync.WaitGroup
		for i := range askers {
			ctx, cancel := context.WithCancel(t.Context())
			askers[i] = cancel
			all.Go(func() { _, errs[i] = l.addresses(ctx, "a") })
			synctest.Wait()
		}
		askers[0]()
		synctest.Wait()
		if n := h.now.Load(); n != 1 || !errors.Is(errs[0], context.Canceled) {
			t.Errorf("%d look-ups after the first has left with %v", n, errs[0])
		}
		askers[1]()
		all.Wait()
		synctest.Wait()
		if n := h.now.Load(); n != 0 || !errors.Is(errs[1], context.Canceled) {
			t.Errorf("%d look-ups after the last has left with %v", n, errs[1])
		}
		close(h.release)
		if addrs, err := l.addresses(t.Context(), "a"); err != nil || len(addrs) != 1 || h.calls.Load() != 2 {
			t.Errorf("then %v, %v after %d look-ups", addrs, err, h.calls.Load())
		}
	})
}

// The host is never asked for more names at a time than it is fair to; the rest waits, and is asked for then.
func TestLookupsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &held{release: make(chan struct{})}
		l := newLookups(h.lookup)
		var all sync.WaitGroup
		for i := range 3 * mostLookups {
			all.Go(func() {
				if _, err := l.addresses(t.Context(), fmt.Sprint("n", i)); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		if n := h.now.Load(); n != mostLookups {
			t.Errorf("%d look-ups at a time", n)
		}
		close(h.release)
		all.Wait()
		if h.most.Load() != mostLookups || h.calls.Load() != 3*mostLookups {
			t.Errorf("%d look-ups, %d at a time", h.calls.Load(), h.most.Load())
		}
	})
}

// A name that was not even asked for, because so many others were, is asked for by the next who wants it.
func TestNotAskedIsNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &held{release: make(chan struct{})}
		l := newLookups(h.lookup)
		for range mostLookups {
			l.slots <- struct{}{}
		}
		_, err := l.addresses(t.Context(), "a")
		if d, ok := errors.AsType[*net.DNSError](err); !ok || !d.IsTemporary || h.calls.Load() != 0 {
			t.Errorf("%v after %d look-ups", err, h.calls.Load())
		}
		<-l.slots
		close(h.release)
		if _, err := l.addresses(t.Context(), "a"); err != nil {
			t.Error(err)
		}
	})
}

func TestKeptIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLookups(func(context.Context, string) ([]netip.Addr, error) { return nil, io.EOF })
		for i := range 3 * mostKept {
			l.addresses(t.Context(), fmt.Sprint("n", i))
			if len(l.kept) > mostKept {
				t.Fatalf("%d names are kept", len(l.kept))
			}
		}
		if _, ok := l.kept[fmt.Sprint("n", 3*mostKept-1)]; !ok {
			t.Error("the last one is not")
		}
		if len(l.underway) > 0 {
			t.Errorf("%d look-ups are under way", len(l.underway))
		}
	})
}

// What the host says is made plain: nothing of the host's interfaces, no address in two forms, no end of addresses.
func TestPlainAddresses(t *testing.T) {
	var many []netip.Addr
	for i := range 1000 {
		many = append(many, netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}))
	}
	for _, row := range []struct {
		says []netip.Addr
		want string
	}{
		{append(addresses("::ffff:192.0.2.1", "192.0.2.1", "fe80::1%eth0", "fe80::1"), netip.Addr{}), "[192.0.2.1 fe80::1] <nil>"},
		{many, fmt.Sprint(many[:mostAddresses]) + " <nil>"},
		{nil, "[] lookup a: no such host"},
		{[]netip.Addr{{}}, "[] lookup a: no such host"},
	} {
		l := newLookups(func(context.Context, string) ([]netip.Addr, error) { return row.says, nil })
		addrs, err := l.addresses(t.Context(), "a")
		if got := fmt.Sprint(addrs, " ", err); got != row.want {
			t.Errorf("%v: %s, want %s", row.says, got, row.want)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, row := range []struct {
		says  error
		found bool // that there is no such name
	}{
		{&net.DNSError{Err: "no such host", IsNotFound: true, IsTemporary: true}, true},
		{fmt.Errorf("the host: %w", &net.DNSError{IsNotFound: true}), true},
		{&net.DNSError{Err: "server misbehaving"}, false},
		{&net.DNSError{IsTimeout: true}, false},
		{io.EOF, false},
		{context.DeadlineExceeded, false},
	} {
		l := newLookups(func(context.Context, string) ([]netip.Addr, error) { return addresses("192.0.2.1"), row.says })
		addrs, err := l.addresses(t.Context(), "a")
		d, ok := errors.AsType[*net.DNSError](err)
		if !ok || d.IsNotFound != row.found || d.IsTemporary == row.found || d.Name != "a" || addrs != nil {
			t.Errorf("%#v: %v, %#v", row.says, addrs, err)
		}
	}
}
