// Does to the process: answers the calls of a box that ask for the network; owns sockets in the box's network and on the host.
// Undone: Close gives back every descriptor; what was connected stays the program's.
// Preconditions: a seccomp listener whose filter was made with seccomp.Options.Broker; Linux 5.9.
// Called by: cmd/psb.
// Proved by: TestNetworkPrograms, the attack suite, TestUnixSocketsOfTheBox.

package broker

import (
	"context"
	"errors"
	"net/netip"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"psb/namespaces/broker/names"
	"psb/namespaces/broker/relay"
	"psb/policy"
	"psb/seccomp"
)

const (
	mostAttempts = 16  // calls that take time and are at work at one time; each takes a few descriptors
	mostWaiting  = 256 // blocking connects whose server is not ready; each keeps a few
)

// patience is how long the end waits for calls that are still at work.
const patience = 2 * time.Second

// Config is what a broker needs.
type Config struct {
	Lite        bool                                         // the box shares the host's network: it has no Diag, Route and Socket
	Diag, Route *os.File                                     // of namespaces.Box.Network; the broker closes them
	Socket      func(domain, kind int) (int, error)          // namespaces.Box.Socket
	Judge       Judge                                        // what may be reached
	Sockets     map[string]string                            // unix sockets that rules name: the rule's path to where it led on the host, free of links
	Hostname    string                                       // the box's
	Lookup      names.Lookup                                 // asks the host for a name
	Refused     func(a policy.Access)                        // hears of what was not allowed; a name without a rule comes without a port
	Did         func(tid int, a policy.Access, errno string) // hears what came of what was allowed; nil for nobody. errno: "" or the kernel's name
}

// Broker answers for one box. It makes each call itself: between a look at the program's memory and descriptors and the kernel's own, another
// thread could change both.
type Broker struct {
	cfg      Config
	net      *boxNetwork
	attempts chan struct{}
	waiting  chan struct{}
	forwards chan struct{} // one for each further place of a server
	busy     marks         // sockets whose O_NONBLOCK is not the program's for a moment
	ctx      context.Context
	stop     context.CancelFunc
	calls    sync.WaitGroup

	callers   callers
	given     given
	free      marks // sockets that asked for any free port
	published published
	listened  portSet // of servers inside, whether they still are or not

	mu      sync.Mutex // guards what follows
	names   *names.Server
	relay   *relay.Relay
	routed  bool
	buffers buffers
	answers bool           // the name server inside runs
	lite    netip.AddrPort // where it runs, of a box in the host's network
	closes  []func()
	closed  bool
}

// New takes over the box's network.
func New(cfg Config) (*Broker, error) {
	var net *boxNetwork
	if !cfg.Lite {
		var err error
		if net, err = newBoxNetwork(cfg.Diag); err != nil {
			return nil, err
		}
	}
	b := &Broker{cfg: cfg, net: net, attempts: make(chan struct{}, mostAttempts), waiting: make(chan struct{}, mostWaiting), forwards: make(chan struct{}, mostForwards)}
	b.ctx, b.stop = context.WithCancel(context.Background())
	b.names = names.New(names.Config{Ruled: cfg.Judge.RulesName, Refused: func(name string) {
		cfg.Refused(policy.Access{Op: policy.OpConnect, Object: name})
	}, Lookup: cfg.Lookup, Hostname: cfg.Hostname})
	b.relay = relay.New(relay.Config{Inside: b.datagramInside, Where: b.where, Sent: b.sent})
	return b, nil
}

// Close ends what the broker does for the box. What still waits is answered by the kernel, once the listener is closed.
func (b *Broker) Close() {
	b.stop()
	b.mu.Lock()
	closes := b.closes
	b.closes, b.closed = nil, true
	b.mu.Unlock()
	for _, f := range closes {
		f()
	}
	b.relay.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.calls.Wait()
	}()
	select { // a connect that the kernel lets nobody out of ends with psb
	case <-done:
	case <-time.After(patience):
	}
	if b.net != nil {
		b.net.close()
	}
	b.callers.mu.Lock()
	b.callers.close()
	b.callers.mu.Unlock()
	if b.cfg.Route != nil {
		b.cfg.Route.Close()
	}
}

// Answers tells whether a call is the broker's.
func (b *Broker) Answers(name string) bool {
	switch name {
	case "connect", "listen", "bind", "sendto", "sendmsg", "sendmmsg":
		return true
	}
	return false
}

// Serve answers one call, or takes it over where that takes time.
func (b *Broker) Serve(r *seccomp.Request) seccomp.Answer {
	k := &call{r: r, socket: -1, host: -1, pin: -1}
	goOn, err := b.act(k)
	if err == errLater {
		return seccomp.Answer{Later: true}
	}
	k.close()
	return answer(goOn, err)
}

// errLater says that the call is answered by a goroutine of its own.
var errLater = errors.New("answered later")

// act makes a call, as far as that takes no time. goOn: the kernel is to run the program's own.
func (b *Broker) act(k *call) (goOn bool, err error) {
	if b.cfg.Lite {
		return b.actLite(k)
	}
	switch k.r.Name {
	case "listen":
		return false, b.listen(k)
	case "bind":
		return b.bind(k)
	case "sendto", "sendmsg", "sendmmsg":
		return true, b.send(k)
	}
	return false, b.connect(k)
}

// later goes on with a call in a goroutine, which ends when the caller does: other calls wait for nothing that takes time.
func (b *Broker) later(k *call, rest func() error) error {
	if k.alone {
		return rest()
	}
	b.calls.Add(1)
	go func() {
		defer b.calls.Done()
		defer k.close()
		if !b.enter(k) {
			return
		}
		k.alone = true
		err := rest()
		b.leave(k)
		if a := answer(false, err); !a.Later {
			_ = k.r.Answer(a) // where nobody waits any more, nobody is answered
		}
	}()
	return errLater
}

// answer is what the program is told.
func answer(goOn bool, err error) seccomp.Answer {
	var errno unix.Errno
	switch {
	case err == nil:
		return seccomp.Answer{Done: !goOn, Continue: goOn}
	case errors.Is(err, seccomp.ErrGone):
		return seccomp.Answer{Later: true} // nobody waits for it
	case errors.As(err, &errno):
		return seccomp.Answer{Errno: seccomp.Errno(errno)}
	}
	return seccomp.Answer{Errno: seccomp.EACCES}
}

// enter waits for a turn, as long as the caller does. Whoever waits for something else leaves meanwhile.
func (b *Broker) enter(k *call) bool {
	for {
		select {
		case b.attempts <- struct{}{}:
			k.turn = true
			return true
		case <-b.ctx.Done():
			return false
		case <-time.After(50 * time.Millisecond):
			if !k.r.Valid() {
				return false
			}
		}
	}
}

func (b *Broker) leave(k *call) {
	if k.turn {
		k.turn = false
		<-b.attempts
	}
}

func (b *Broker) refuse(a policy.Access) error {
	b.cfg.Refused(a)
	return unix.EACCES
}

// did tells what came of a connect that was allowed.
func (b *Broker) did(k *call, a policy.Access, err error) {
	if b.cfg.Did == nil {
		return
	}
	name := ""
	var errno unix.Errno
	if errors.As(err, &errno) {
		name = unix.ErrnoName(errno)
	} else if err != nil {
		name = "EACCES"
	}
	b.cfg.Did(k.r.TID, a, name)
}

// means says what an address inside stands for.
func (b *Broker) means(to netip.AddrPort, udp bool) (target, int) {
	addr := to.Addr().Unmap().WithZone("")
	if name, which, ok := b.names.Meaning(addr); ok {
		return target{name: name, port: to.Port(), udp: udp}, which
	}
	return target{addr: addr, port: to.Port(), udp: udp}, 0
}

// pick takes one of a name's addresses. The program has an IPv4 address for the name, so one of that family comes first, if there is any.
func pick(list []netip.Addr, which int) netip.Addr {
	four := slices.DeleteFunc(slices.Clone(list), func(a netip.Addr) bool { return !a.Is4() })
	if len(four) > 0 {
		list = four
	}
	return list[which%len(list)]
}

// resolve gives the address on the host that a target has now, if it may be reached there.
func (b *Broker) resolve(ctx context.Context, t target, which int) (netip.AddrPort, error) {
	real := t.addr
	if t.name != "" {
		list, err := b.names.Addresses(ctx, t.name)
		if err != nil || len(list) == 0 {
			return netip.AddrPort{}, unix.EHOSTUNREACH
		}
		real = pick(list, which)
	}
	if refused, ok := mayReach(b.cfg.Judge, t, real); !ok {
		return netip.AddrPort{}, b.refuse(refused)
	}
	return netip.AddrPortFrom(real, t.port), nil
}
