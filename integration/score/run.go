package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"psb/integration/programs"
)

// ending is how a run ended and what it said.
type ending struct {
	code     int // exit status, or -1
	signal   syscall.Signal
	out, err string
	late     bool // ended by this command, because it took too long
}

func (e ending) String() string {
	how := fmt.Sprint("status ", e.code)
	switch {
	case e.late:
		how = "not done in time"
	case e.signal != 0:
		how = "signal " + e.signal.String()
	}
	return fmt.Sprintf("%s\n--- stdout\n%s--- stderr\n%s", how, e.out, e.err)
}

// denials are the lines in which psb says what it refused.
func (e ending) denials() (denied, hints []string) {
	for line := range strings.Lines(calm(e.err)) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "psb: denied: ") {
			denied = append(denied, line)
		}
		if hint, ok := strings.CutPrefix(line, "psb: hint: "); ok {
			hints = append(hints, hint)
		}
	}
	return denied, hints
}

// command is one command line as the scene's person, in a group of its own, so that a run that hangs is ended as a whole.
func (s scene) command(ctx context.Context, dir string, argv ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, s.env()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if os.Getuid() == 0 && s.who.id != 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(s.who.id), Gid: uint32(s.who.id)}
	}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// run runs one command line in the project.
func (s scene) run(wait time.Duration, argv ...string) ending {
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	var out, errs bytes.Buffer
	cmd := s.command(ctx, s.project, argv...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	return ended(ctx, cmd, err, out.String(), errs.String())
}

func ended(ctx context.Context, cmd *exec.Cmd, err error, out, errs string) ending {
	e := ending{code: -1, out: out, err: errs, late: ctx.Err() == context.DeadlineExceeded}
	if err != nil && !errors.As(err, new(*exec.ExitError)) {
		e.err += err.Error() + "\n"
	}
	if cmd.ProcessState == nil {
		return e
	}
	e.code = cmd.ProcessState.ExitCode()
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		e.signal = ws.Signal()
	}
	return e
}

// perform runs a program of the corpus: its services beside it, and where it is a server its client, after which it gets a SIGTERM. What a
// server with a client says is its client's word; of its own only psb's lines are kept.
func (s scene) perform(r programs.Row, python string, wait time.Duration, argv ...string) ending {
	stop, err := s.serve(r)
	defer stop()
	if err != nil {
		return ending{code: -1, err: err.Error() + "\n"}
	}
	if len(r.Client) == 0 {
		return s.run(wait, argv...)
	}
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	var out, errs, answers bytes.Buffer
	server := s.command(ctx, s.project, argv...)
	server.Stdout, server.Stderr = &out, &errs
	if err := server.Start(); err != nil {
		return ending{code: -1, err: err.Error() + "\n"}
	}
	asking, enough := context.WithCancel(ctx)
	defer enough()
	client := s.command(asking, s.project, append([]string{python, "-B"}, r.Client...)...)
	client.Stdout, client.Stderr = &answers, &answers
	over := make(chan error, 1)
	go func() { over <- server.Wait() }()
	asked := make(chan error, 1)
	go func() { asked <- client.Run() }()
	select {
	case <-asked:
		_ = server.Process.Signal(syscall.SIGTERM)
		err = <-over
	case err = <-over: // without having been asked to
		enough()
		<-asked
	}
	e := ended(ctx, server, err, answers.String(), errs.String())
	if e.code > 0 || e.late {
		e.out += out.String()
		return e
	}
	var kept strings.Builder
	for line := range strings.Lines(e.err) {
		if strings.HasPrefix(line, "psb: ") {
			kept.WriteString(line)
		}
	}
	e.err = kept.String()
	return e
}

// serve starts the row's services, outside, and waits until each answers; stop ends them.
func (s scene) serve(r programs.Row) (stop func(), err error) {
	ctx, cancel := context.WithCancel(context.Background())
	var running []*exec.Cmd
	stop = func() {
		cancel()
		for _, c := range running {
			_ = c.Wait()
		}
	}
	for _, service := range r.Service {
		dir := filepath.Join(filepath.Dir(s.home), "service")
		if err := os.RemoveAll(dir); err != nil {
			return stop, err
		}
		if err := os.Mkdir(dir, 0o755); err != nil {
			return stop, err
		}
		if err := os.Chown(dir, s.who.id, s.who.id); err != nil {
			return stop, err
		}
		cmd := s.command(ctx, dir, service.Argv...)
		if err := cmd.Start(); err != nil {
			return stop, err
		}
		running = append(running, cmd)
		if err := answers(service.Ready); err != nil {
			return stop, fmt.Errorf("%s: %w", service.Argv[0], err)
		}
	}
	return stop, nil
}

// answers waits until somebody listens at the address.
func answers(address string) error {
	deadline := time.Now().Add(20 * time.Second)
	for {
		c, err := net.Dial("tcp", address)
		if err == nil {
			return c.Close()
		}
		if time.Now().After(deadline) {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// differ says in what two endings differ after the row's normaliser, each in its scene; "" when they do not.
func differ(r programs.Row, a scene, want ending, b scene, got ending) string {
	x, y := plain(r, a, want), plain(r, b, got)
	if x == y {
		return ""
	}
	return firstDifference(x, y)
}

func plain(r programs.Row, s scene, e ending) string {
	e.err = calm(e.err)
	text := strings.ReplaceAll(strings.ReplaceAll(e.String(), s.project, "PROJECT"), s.home, "HOME")
	return r.Normal(text)
}

// firstDifference shows the first lines that differ, and what psb said.
func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	i := 0
	for i < len(w) && i < len(g) && w[i] == g[i] {
		i++
	}
	clip := func(list []string) string {
		list = list[min(i, len(list)):]
		if len(list) > 12 {
			list = slices.Concat(list[:4], []string{"…"}, list[len(list)-7:])
		}
		return strings.Join(list, "\n")
	}
	return fmt.Sprintf("without psb:\n%s\nwith psb:\n%s", clip(w), clip(g))
}

// calm leaves out what psb said of calls that no rule can allow: the program took such a refusal in its stride when it ends as without psb,
// and no learning could have spared it.
func calm(stderr string) string {
	var b strings.Builder
	fixed := false
	for line := range strings.Lines(stderr) {
		switch {
		case strings.HasPrefix(line, "psb: denied: syscall "):
			fixed = true
		case fixed && strings.HasPrefix(line, "psb: hint: refused for its arguments"):
		default:
			fixed = false
			b.WriteString(line)
		}
	}
	return b.String()
}
