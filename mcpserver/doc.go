// Package mcpserver serves boxes to models over the Model Context Protocol: run_python and its companions, on stdio and on streamable HTTP, in the
// revision 2026-07-28 and in those before it.
//
//	s, err := mcpserver.New(options, runner)
//	err = s.ServeStdio(ctx, in, out)      // or s.Handler() below an http.Server
//
// It checks arguments, bounds how many calls run, tells progress, ends a call with its client, and puts results into words. It does not start
// anything: whoever runs code is a [Runner]. It does not judge how a run ended either: each verdict in a Result is the Runner's, from wait status,
// control groups and filters. What the program said is kept apart and is data.
package mcpserver
