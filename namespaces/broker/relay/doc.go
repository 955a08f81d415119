// Package relay carries UDP datagrams between a box and the host: the box has an empty network in which every address leads to its own
// loopback, and no program in it gets a socket of the host.
//
//	r := relay.New(relay.Config{Inside: newSocketInTheBox, Where: judge})
//	err := r.Open(to)                 // before the program's datagram to that address goes on its way
//	err = r.Publish(outside, inside)  // a server in the box, for peers on the host
//	r.Close()
//
// A door is a socket that clients send to. Open makes one inside, bound to the very address that the program names, so that a program which
// connected its socket sees answers come from there; Publish makes one on the host. Each client of a door has a flow: a socket of its own on
// the other side, connected to what the door stands for, so that answers of nobody else come in.
//
//	program ──► door inside ──► flow's socket ──► peer on the host
//	server  ◄── flow's socket ◄── door outside ◄── peer on the host
//
// What a door inside stands for is asked (Config.Where) when a flow begins, and the flow keeps it; a flow that was idle, that was pushed out
// by newer ones or whose peer refused (ICMP) ends, and the next datagram begins another. Datagrams that come while Where thinks wait, a few
// of them. Everything else is UDP's own way: what finds no room is lost, in the kernel's queues or here, and nobody waits for anybody.
//
// It does not judge: what may be reached is the caller's to say, multicast and broadcast included. It does not carry IP options, TTL, TOS
// with ECN, the don't-fragment bit or ICMP messages: the program's datagrams leave with the host's defaults, and a peer that refuses is
// silence to the program. It does not tell datagrams apart: whoever in the box sends from a client's address has the client's flow.
package relay
