package mcpserver

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"
)

// ServeHTTP serves clients on one listener and, where there is one, health and metrics on a second. When ctx ends it takes no more calls, waits
// for those that run, at most for the grace, ends what is left and returns nil. An error is a listener's.
func (s *Server) ServeHTTP(ctx context.Context, clients, health net.Listener, o HTTPOptions, grace time.Duration) error {
	if !loopback(clients.Addr()) && o.Tokens == nil {
		return errors.New("an address that others can reach needs tokens")
	}
	o.Loopback = loopback(clients.Addr())
	server := func(h http.Handler) *http.Server {
		return &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10}
	}
	main := server(s.Handler(o))
	failed := make(chan error, 2)
	go func() { failed <- main.Serve(clients) }()
	var second *http.Server
	if health != nil {
		second = server(s.HealthHandler())
		go func() { failed <- second.Serve(health) }()
	}
	var err error
	select {
	case err = <-failed:
	case <-ctx.Done():
	}
	patience, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	s.Drain(patience)
	last, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if main.Shutdown(last) != nil {
		_ = main.Close() // streams that older clients keep open
	}
	if second != nil {
		_ = second.Close()
	}
	return err
}

// loopback: only this machine can reach it.
func loopback(a net.Addr) bool {
	t, ok := a.(*net.TCPAddr)
	return ok && t.IP.IsLoopback() || a.Network() == "unix"
}
