package names

import (
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"testing"
)

// The pool begins behind what psb keeps for itself, ends within its network, and gives no address twice.
func TestStandInsWhole(t *testing.T) {
	pool, network := newStandIns(), netip.MustParsePrefix("198.18.0.0/15")
	pool.room = mostStandIns
	var last netip.Addr
	total := 0
	for i := 0; ; i++ {
		addrs := pool.take(fmt.Sprint("n", i), mostEach)
		if len(addrs) == 0 {
			break
		}
		for _, a := range addrs {
			if total++; !network.Contains(a) || total > 1 && a != last.Next() {
				t.Fatalf("address %d is %v, behind %v", total, a, last)
			}
			last = a
		}
		if i == 0 && addrs[0] != netip.MustParseAddr("198.18.1.0") {
			t.Errorf("the first is %v", addrs[0])
		}
	}
	if total != mostStandIns || last != netip.MustParseAddr("198.19.255.254") {
		t.Errorf("%d addresses, the last %v", total, last)
	}
	for addr, want := range map[string]string{
		"198.18.1.0": "n0 0 true", "198.18.1.15": "n1 7 true", "::ffff:198.18.1.9": "n1 1 true", "198.19.255.254": "n16351 6 true",
		"198.18.0.255": " 0 false", "198.19.255.255": " 0 false", "198.20.0.0": " 0 false", "0.0.0.0": " 0 false", "255.255.255.255": " 0 false",
		"::1": " 0 false", "2001:db8::c612:100": " 0 false",
	} {
		name, which, ok := pool.meaning(netip.MustParseAddr(addr))
		if got := fmt.Sprint(name, " ", which, " ", ok); got != want {
			t.Errorf("%s means %q, want %q", addr, got, want)
		}
	}
	if name, _, ok := pool.meaning(netip.Addr{}); ok {
		t.Errorf("no address means %q", name)
	}
	if got := pool.take("n16351", mostEach); len(got) != 7 {
		t.Errorf("the last name has %v, and no more are left", got)
	}
}

// The number of names has its own end, far from that of the addresses.
func TestStandInsNames(t *testing.T) {
	pool := newStandIns()
	for i := range mostNames {
		if len(pool.take(fmt.Sprint("n", i), 1)) != 1 {
			t.Fatalf("name %d got no address", i)
		}
	}
	if got := pool.take("one more", 1); got != nil {
		t.Errorf("one more got %v", got)
	}
	if got := pool.take("n5", 2); len(got) != 2 {
		t.Errorf("a known name got %v, want two", got)
	}
}

// Who asks at the same time is told the same.
func TestStandInsAtOnce(t *testing.T) {
	pool := newStandIns()
	const askers, names = 8, 50
	var given [askers][names][]netip.Addr
	var all sync.WaitGroup
	for a := range askers {
		all.Go(func() {
			for n := range names {
				given[a][n] = pool.take(fmt.Sprint("n", n), 1+(a+n)%3)
			}
		})
	}
	all.Wait()
	seen := map[netip.Addr]int{}
	for n := range names {
		final := pool.take(fmt.Sprint("n", n), 3)
		for a := range askers {
			if got := given[a][n]; len(got) != 1+(a+n)%3 || !slices.Equal(got, final[:len(got)]) {
				t.Errorf("asker %d got %v for n%d, which has %v", a, got, n, final)
			}
		}
		for i, addr := range final {
			if other, twice := seen[addr]; twice {
				t.Errorf("%v stands for n%d and n%d", addr, other, n)
			}
			seen[addr] = n
			if name, which, ok := pool.meaning(addr); name != fmt.Sprint("n", n) || which != i || !ok {
				t.Errorf("%v means %q, %d", addr, name, which)
			}
		}
	}
}
