// Does to the process: moves its standard descriptors away: 0 becomes /dev/null, 1 what 2 is; catches signals.
// Undone: by the end of the process.
// Preconditions: called once, as the last thing psb does.
// Called by: mcp.go.
// Proved by: TestMCPOutputIsNotProtocol, TestMCPDrains, TestMCPHTTPGuards.

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"psb/mcpserver"
)

// privateFrom is the first number that the protocol's descriptors may get: nothing that counts on 0, 1 and 2 finds them.
const privateFrom = 64

// serveMCPStdio serves one client. From here on nothing that this process prints can reach it but the protocol: its descriptors are moved
// where nobody else writes, and no box inherits them.
func serveMCPStdio(w *world, o *mcpOptions, s *mcpserver.Server) error {
	if isTerminal(w.stdio[0]) {
		w.ui.say("waiting for a client on stdin; psb mcp is started by clients: psb mcp install --client NAME adds it to one")
		w.ui.hint("psb help mcp; Ctrl-D ends it")
	}
	in, out, err := privateStdio()
	if err != nil {
		return fmt.Errorf("stdio: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ends := make(chan os.Signal, 2)
	signal.Notify(ends, syscall.SIGTERM, syscall.SIGINT)
	signal.Ignore(syscall.SIGHUP, syscall.SIGPIPE)
	go func() {
		select {
		case <-ends:
			drain(s, ends, o.grace)
			cancel()
		case <-ctx.Done():
		}
	}()
	err = s.ServeStdio(ctx, in, out)
	if errors.Is(err, mcpserver.ErrStalled) {
		return refuse("", "%v", err)
	}
	return err
}

// drain waits for what runs, until the grace is over or a second signal comes.
func drain(s *mcpserver.Server, again <-chan os.Signal, grace time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	go func() {
		select {
		case <-again:
			cancel()
		case <-ctx.Done():
		}
	}()
	s.Drain(ctx)
}

// privateStdio takes 0 and 1 away.
func privateStdio() (in, out *os.File, err error) {
	move := func(fd int, name string) *os.File {
		if err != nil {
			return nil
		}
		var n int
		if n, err = unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, privateFrom); err != nil {
			return nil
		}
		return os.NewFile(uintptr(n), name)
	}
	in, out = move(0, "client's requests"), move(1, "client's answers")
	if err != nil {
		return nil, nil, err
	}
	null, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	defer unix.Close(null)
	if err := unix.Dup3(null, 0, 0); err != nil {
		return nil, nil, err
	}
	return in, out, unix.Dup3(2, 1, 0)
}

// serveMCPHTTP serves many clients.
func serveMCPHTTP(w *world, o *mcpOptions, s *mcpserver.Server) error {
	h := mcpserver.HTTPOptions{Hosts: o.hosts, Origins: o.origins, URL: o.url, Stateless: o.stateless}
	if o.tokens != "" {
		var err error
		if h.Tokens, err = mcpserver.ReadTokens(absolute(w.cwd, o.tokens)); err != nil {
			return refuse("a line NAME SHA256 for each: printf %s \"$TOKEN\" | sha256sum", "--tokens: %s", err)
		}
	}
	clients, err := net.Listen("tcp", o.http)
	if err != nil {
		return refuse("psb mcp --http 127.0.0.1:0 takes a free port", "--http: %s", err)
	}
	var health net.Listener
	if o.health != "" {
		if health, err = net.Listen("tcp", o.health); err != nil {
			return refuse("another address", "--health: %s", err)
		}
		w.ui.say("health and metrics at http://%s", health.Addr())
	}
	w.ui.say("serving MCP at http://%s%s", clients.Addr(), mcpserver.Endpoint)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	go func() {
		for range hup {
			if h.Tokens == nil {
				continue
			}
			if err := h.Tokens.Reload(); err != nil {
				w.ui.say("tokens: %s; those read before stay", err)
				continue
			}
			w.ui.say("tokens: read again")
		}
	}()
	return s.ServeHTTP(ctx, clients, health, h, o.grace)
}
