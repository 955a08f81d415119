// Package names is the name server that a box sees. It answers for psb, from outside the box, on sockets that lie inside.
//
//	server := names.New(names.Config{Ruled: ruled, Refused: report, Hostname: "box"})
//	go server.ServePacket(ctx, udp)
//	go server.ServeStream(ctx, tcp)
//	name, which, ok := server.Meaning(addr)           // the program connects to addr: whom does it mean?
//	real, err := server.Addresses(ctx, name)          // real[which%len(real)] is the one to try
//
// A name that some rule allows to reach gets addresses of 198.18.0.0/15 that stand for it, once the host has found it; so what the program
// connects to later still says which name it asked for. Any other name does not exist, and no question about it leaves the host.
//
// It does not decide what may be reached (it is told), connect anywhere, or hand a real address to the program.
package names
