package main

import (
	"fmt"
	"net"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"psb/mcpserver"
)

// mcpOptions are those of psb mcp.
type mcpOptions struct {
	http, health, tokens, profiles, python, url, values, ask string
	max, tools, hosts, origins, allowGaps                    []string
	slots, queue, each, message                              int
	rate                                                     float64
	quota                                                    int64
	grace, warmFor, sessionIdle, sessionLife                 time.Duration
	structured, stateless, cold                              bool
	warm, sessions, sessionsEach                             int
	preload                                                  []string
}

// mcpHelp is what `psb help mcp` prints above the options.
const mcpHelp = `psb mcp serves run_python and its companions to models over the Model Context Protocol.

  psb mcp                                    on stdin and stdout, for a client that starts it
  psb mcp install --client claude-code       add it to a client's configuration
  psb mcp config --client cursor             print what would be added
  psb mcp --http 127.0.0.1:8080              streamable HTTP at /mcp, for this machine
  psb mcp --http :8080 --tokens FILE         for others: each needs a token

Every call gets a fresh box, most often one that was made ahead of need: no network, no file of the host, limits of the kernel. A call that names a
session gets a box that stays for the next. Whoever calls may lower limits and pick one of the operator's profiles, nothing more. docs/mcp.md has
every argument.`

// mcpCommand is `psb mcp …`.
func mcpCommand(w *world, status *int) *cobra.Command {
	var o mcpOptions
	c := &cobra.Command{Use: "mcp [options]", Short: "serve run_python to models: a fresh box for each call", Long: mcpHelp, DisableFlagsInUseLine: true,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			u := &usageError{"mcp: no command " + plainText(args[0]), "psb help mcp"}
			if n := nearest(args[0], []string{"config", "install"}); n != "" {
				u.hint = "did you mean psb mcp " + n + "?"
			}
			return u
		},
		RunE: func(*cobra.Command, []string) error {
			err := serveMCP(w, &o)
			*status = 0
			if err != nil {
				*status = refusedStatus(err)
			}
			return err
		}}
	f := c.Flags()
	f.StringVar(&o.http, "http", "", "serve streamable HTTP at this `address`, host:port, instead of stdin and stdout")
	f.StringVar(&o.health, "health", "", "serve /healthz, /readyz and /metrics at this `address`; with --http")
	f.StringVar(&o.tokens, "tokens", "", "`file` with a line NAME SHA256 for each bearer token; read again on SIGHUP; with --http")
	o.offerFlags(f)
	f.IntVar(&o.slots, "slots", 2*runtime.NumCPU(), "`runs` at once")
	f.IntVar(&o.queue, "queue", 0, "`calls` that wait for a slot; 0 is twice the slots, -1 none")
	f.IntVar(&o.each, "per-client", 0, "`calls` of one client at once; 0 is no bound")
	f.Float64Var(&o.rate, "rate", 0, "`calls` a minute of one client; 0 is no bound")
	f.Int64Var(&o.quota, "quota", 0, "`calls` of one client in all; 0 is no bound")
	f.IntVar(&o.message, "max-message", 16<<20, "`bytes` of one request at most")
	f.StringSliceVar(&o.hosts, "allow-host", nil, "`names` that may stand in the Host header; with --http")
	f.StringSliceVar(&o.origins, "allow-origin", nil, "`origins` of web pages that may call; with --http")
	f.StringVar(&o.url, "url", "", "the endpoint's `URL` as clients know it; with --http")
	f.BoolVar(&o.stateless, "stateless", false, "no session for clients of older revisions, so that any replica can answer; with --http")
	f.IntVar(&o.warm, "warm", 2, "`boxes` of each profile in use that are made ahead of need and wait for a call")
	f.DurationVar(&o.warmFor, "warm-for", 30*time.Minute, "how `long` they wait when nobody calls")
	f.StringSliceVar(&o.preload, "preload", nil, "modules, a `list` with commas, that they have imported when a call comes")
	f.BoolVar(&o.cold, "cold", false, "make every box when it is asked for, none ahead of need")
	f.StringVar(&o.ask, "ask", "", "ask a person, through the client, before code runs; where a client cannot ask, `otherwise` refuse or run")
	f.Lookup("ask").NoOptDefVal = string(mcpserver.AskAlways)
	f.DurationVar(&o.grace, "grace", 30*time.Second, "how `long` runs may go on after SIGTERM")
	c.AddCommand(mcpConfigCommand(w, status), mcpInstallCommand(w, status))
	return c
}

// offerFlags are the options that decide what is offered: those of psb tools, too.
func (o *mcpOptions) offerFlags(f *pflag.FlagSet) {
	f.StringVar(&o.profiles, "profiles", "", "`folder` of policies that clients may pick from: NAME.py-sandboxes")
	f.StringVar(&o.values, "values", "", "`file` with a JSON object: its names are there for the code of every run_python, with these values")
	f.StringVar(&o.python, "python", "", "`interpreter` of profiles that name none; otherwise python3 on PATH")
	f.StringArrayVar(&o.max, "max", nil, "the most that a client may ask for, `NAME=VALUE`: "+strings.Join(mcpserver.CeilingNames(), ", "))
	f.StringArrayVar(&o.allowGaps, "allow-gap", nil, "go on without what this host cannot do for a profile, by the `name` of the gap")
	f.StringSliceVar(&o.tools, "tools", nil, "offer these tools only, a `list` with commas")
	f.BoolVar(&o.structured, "structured", false, "results carry structuredContent, too: for programs; some models then see only that")
	f.IntVar(&o.sessions, "sessions", 16, "`sessions` at once; 0 is none")
	f.IntVar(&o.sessionsEach, "sessions-per-client", 4, "`sessions` of one client at once")
	f.DurationVar(&o.sessionIdle, "session-idle", 15*time.Minute, "how `long` a session stays that is not used")
	f.DurationVar(&o.sessionLife, "session-life", 4*time.Hour, "how `long` a session stays at most")
}

// serveMCP is check → profiles → server → serve until the client or a signal ends it.
func serveMCP(w *world, o *mcpOptions) error {
	if err := o.fit(); err != nil {
		return err
	}
	cold, s, end, err := o.server(w)
	if err != nil {
		return err
	}
	defer end()
	for _, m := range cold.offer.Missing {
		w.ui.say("this host lacks: %s", m)
	}
	if len(cold.offer.Missing) > 0 {
		w.ui.hint("psb doctor says how to get it")
	}
	if o.http != "" {
		return serveMCPHTTP(w, o, s)
	}
	return serveMCPStdio(w, o, s)
}

// server is profiles → server. Without cold, boxes are made from now on; end ends them, and what sessions there are then.
func (o *mcpOptions) server(w *world) (cold *coldRunner, s *mcpserver.Server, end func(), err error) {
	ceilings := mcpserver.DefaultCeilings()
	for _, words := range o.max {
		if err := ceilings.Set(words); err != nil {
			return nil, nil, nil, &usageError{"--max " + plainText(err.Error()), "psb mcp --max timeout_s=60 --max memory_mb=1024"}
		}
	}
	if cold, err = newColdRunner(w, o, ceilings); err != nil {
		return nil, nil, nil, err
	}
	var runner mcpserver.Runner = cold
	cold.offer.Cold = o.cold
	end = cold.homes.close
	if !o.cold {
		warm := newWarmRunner(w, o, cold)
		runner, end = warm, func() { warm.close(); cold.homes.close() }
	}
	if o.sessions > 0 {
		kept := newSessionRunner(cold, runner, mcpserver.SessionBounds{Each: o.sessionsEach, All: o.sessions, Idle: o.sessionIdle, Life: o.sessionLife})
		before := end
		runner, end = kept.telling(), func() { kept.end(); before() }
	}
	s, err = mcpserver.New(mcpserver.Options{Version: version, Tools: o.asked(), Ask: mcpserver.Asking(o.ask), Structured: o.structured, Slots: o.slots, Queue: o.queue, PerClient: o.each, RatePerMinute: o.rate, Quota: o.quota, MaxMessage: o.message,
		Say: func(line string) { w.ui.say("%s", line) }}, runner)
	if err != nil {
		end()
		return nil, nil, nil, &usageError{"mcp: " + err.Error(), "psb mcp --tools run_python,run_shell,task,describe"}
	}
	return cold, s, end, nil
}

// asked are the tools to offer: nil leaves it to the server.
func (o *mcpOptions) asked() []string {
	if len(o.tools) == 0 {
		return nil
	}
	return o.tools
}

// fit refuses options that do not go together.
func (o *mcpOptions) fit() error {
	for _, x := range []struct {
		name  string
		given bool
	}{{"health", o.health != ""}, {"tokens", o.tokens != ""}, {"allow-host", len(o.hosts) > 0}, {"allow-origin", len(o.origins) > 0}, {"url", o.url != ""}, {"stateless", o.stateless}} {
		if x.given && o.http == "" {
			return &usageError{"--" + x.name + " goes with --http", "psb mcp --http 127.0.0.1:8080 --" + x.name + " …"}
		}
	}
	switch {
	case !o.cold && (o.warm < 1 || o.warmFor <= 0):
		return &usageError{"--warm and --warm-for: more than none", "psb mcp --cold makes no box ahead of need"}
	case o.cold && len(o.preload) > 0:
		return &usageError{"--preload goes with boxes that are made ahead of need, not with --cold", "psb mcp --preload numpy,pandas"}
	case len(o.preload) > mostPreload:
		return &usageError{fmt.Sprintf("--preload: at most %d modules", mostPreload), "name the packages: they bring their own modules"}
	case slices.ContainsFunc(o.preload, func(name string) bool { return !isModuleName(name) }):
		return &usageError{"--preload: names of modules with commas between", "psb mcp --preload numpy,matplotlib.pyplot"}
	case o.ask != "" && o.ask != string(mcpserver.AskAlways) && o.ask != string(mcpserver.AskOrNot):
		return &usageError{"--ask=" + plainText(o.ask) + ": refuse or run, for clients that cannot ask", "psb mcp --ask"}
	case o.slots < 1:
		return &usageError{"--slots: at least 1", "psb mcp --slots 4"}
	case o.message < 1<<10:
		return &usageError{"--max-message: at least 1024 bytes", "psb mcp --max-message 4194304"}
	case o.sessions < 0 || o.sessions > 0 && (o.sessionsEach < 1 || o.sessionIdle < time.Second || o.sessionLife < time.Second):
		return &usageError{"--sessions: none (0), or at least one of each client, for at least a second", "psb mcp --sessions 16 --sessions-per-client 4 --session-idle 15m --session-life 4h"}
	case o.rate < 0 || o.quota < 0 || o.each < 0 || o.queue < -1:
		return &usageError{"--rate, --quota, --per-client and --queue are no negative figures", "psb help mcp"}
	case o.http == "":
		return nil
	}
	for name, at := range map[string]string{"http": o.http, "health": o.health} {
		if _, _, err := net.SplitHostPort(at); err != nil && at != "" {
			return &usageError{fmt.Sprintf("--%s %s: HOST:PORT is needed", name, plainText(at)), "psb mcp --" + name + " 127.0.0.1:8080"}
		}
	}
	if o.tokens == "" && !loopbackOnly(o.http) {
		return &usageError{"--http " + plainText(o.http) + " can be reached by others, and nobody would be asked who he is", "psb mcp --http " + plainText(o.http) + " --tokens FILE, or --http 127.0.0.1:PORT"}
	}
	return nil
}

// loopbackOnly: an address that only this machine can reach. A name is one where all it stands for is.
func loopbackOnly(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil || host == "" {
		return false
	}
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// sortedProfiles puts the default first.
func sortedProfiles(names []string) []string {
	slices.SortFunc(names, func(a, b string) int {
		switch {
		case a == b:
			return 0
		case a == defaultProfile:
			return -1
		case b == defaultProfile:
			return 1
		}
		return strings.Compare(a, b)
	})
	return names
}
