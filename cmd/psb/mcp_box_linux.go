// Does to the process: runs one box for psb mcp, as any run does; writes into and reads from its private folders.
// Undone: the box is gone when it ends.
// Preconditions: started by psb mcp, under boxName: descriptor 3 brings the order, 4 takes the verdict, 5 hangs up when the run is to end.
// Called by: main.go.
// Proved by: TestMCPLimits, TestMCPVerdictIsNotThePrograms, TestMCPGone.

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"psb/mcpserver"
	"psb/namespaces"
	"psb/policy"
	"psb/policy/plan"
	"psb/pythonshim/call"
)

// boxName is the name under which psb runs one box for psb mcp.
const boxName = "psb-box"

// Descriptors that psb mcp gives it.
const (
	orderFD   = 3
	verdictFD = 4
	lifeFD    = 5
)

// boxRun is the psb behind one call: order → plan → launch → look → verdict. Its own standard descriptors are the program's, so it says nothing.
func boxRun(w *world) (int, error) {
	for fd := orderFD; fd <= lifeFD; fd++ {
		unix.CloseOnExec(fd)
	}
	order, verdict, life := os.NewFile(orderFD, "order"), os.NewFile(verdictFD, "verdict"), os.NewFile(lifeFD, "life")
	var o boxOrder
	if err := json.NewDecoder(order).Decode(&o); err != nil {
		return exitRefused, &usageError{"this name is psb mcp's own", "psb --help"}
	}
	order.Close()
	v := runBox(w, &o, life)
	if err := json.NewEncoder(verdict).Encode(v); err != nil {
		return exitRefused, nil // the server is gone
	}
	return 0, nil
}

func runBox(w *world, o *boxOrder, life *os.File) *boxVerdict {
	v := &boxVerdict{}
	j, err := boxJob(w, o)
	if err == nil {
		err = j.launchBox(o, life, v)
	}
	if err != nil && !v.Started {
		v.Refusal = err.Error()
		var r *refusal
		var stage *namespaces.StageError
		switch {
		case errors.As(err, &r) && len(r.hints) > 0:
			v.Hint = strings.Join(r.hints, "; ")
		case errors.As(err, &stage):
			v.Hint = "psb doctor says what this host lacks"
		}
	}
	return v
}

// boxJob works the launch out.
func boxJob(w *world, o *boxOrder) (*job, error) {
	quiet := *w
	quiet.ui, quiet.cwd, quiet.seen, quiet.env = voice{io.Discard}, "/", newSightings(), ownEnvironment(w.env)
	j := &job{w: &quiet, opts: options{python: o.Profile.Python, provider: "namespaces", allowGaps: o.AllowGaps}, where: whereabouts{project: o.Profile.Folder}, look: newLook(quiet.seen)}
	j.facts = probe(j.w, false)
	j.setMacros()
	if err := j.boxPolicy(o); err != nil {
		return nil, err
	}
	if err := j.findPython(); err != nil {
		return nil, err
	}
	j.setMacros()
	if err := j.expand(); err != nil {
		return nil, err
	}
	if err := j.boxLimits(o.Limits); err != nil {
		return nil, err
	}
	if !o.Network {
		j.policy.Rules = slices.DeleteFunc(j.policy.Rules, func(r policy.Rule) bool { return r.Op == policy.OpConnect || r.Op == policy.OpListen })
	}
	return j, j.planFor(plan.Enforce, j.boxCommand(o))
}

// ownEnvironment is what psb itself goes by. The rest of the server's variables is not even known by name to what tells of denials.
func ownEnvironment(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return name != "PATH" && name != "HOME" && name != "USER" && !strings.HasPrefix(name, "XDG_")
	})
}

// boxPolicy reads the profile's policy, from the texts that the server was started with.
func (j *job) boxPolicy(o *boxOrder) error {
	if o.Profile.Policy == "" {
		p, err := policy.Parse("", []byte(builtInPolicy(present)))
		if err != nil {
			return fmt.Errorf("BUG: the built-in policy: %w", err)
		}
		j.written = p
		return nil
	}
	read := func(name string) ([]byte, error) {
		if text, ok := o.Profile.Texts[name]; ok {
			return text, nil
		}
		return nil, os.ErrNotExist
	}
	p, err := policy.Load(read, o.Profile.Policy, j.macros)
	if err != nil {
		return refuse("psb policy --policy FILE check", "profile %s: %s", o.Profile.Name, err)
	}
	j.where.policy, j.where.exists, j.where.named = o.Profile.Policy, true, true
	j.written = p
	return j.checkTrust()
}

// boxLimits adds the call's limits; where the profile has a lower one, that holds. What this host cannot hold exactly is held as well as it can
// be, and told: the bound is the operator's offer, not a line of a policy that somebody relies on.
func (j *job) boxLimits(asked map[string]string) error {
	if j.policy.Limits == nil {
		j.policy.Limits = map[string]policy.Limit{}
	}
	for name, text := range asked {
		l, err := policy.ParseLimit(name, text)
		if err != nil {
			return refuse("", "%s", err)
		}
		l.Origin = policy.Origin{From: "the call"}
		if j.facts.host.Limits[name] != "" {
			l.Origin.From = "default"
		}
		if own, set := j.policy.Limits[name]; !set || lower(l, own) {
			j.policy.Limits[name] = l
		}
	}
	return nil
}

func lower(a, b policy.Limit) bool {
	x, _ := limitValue(a)
	y, _ := limitValue(b)
	return x < y
}

// boxCommand is what the box starts, and with which environment: nothing of the server's own.
func (j *job) boxCommand(o *boxOrder) plan.Command {
	spaces := []plan.Space{{Path: mcpserver.Workspace}, {Path: call.Dir, Size: 24 << 20}}
	env := []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + mcpserver.Workspace, "LANG=C.UTF-8", "TMPDIR=/tmp", "USER=user", "MPLBACKEND=Agg", "MPLCONFIGDIR=/tmp"}
	dir := mcpserver.Workspace
	if o.Dir != "" {
		dir += "/" + o.Dir
		spaces = append(spaces, plan.Space{Path: dir, Part: true})
	}
	c := plan.Command{Env: env, Dir: dir, Private: spaces}
	if o.Language == string(mcpserver.Shell) {
		c.Exec = "/bin/sh"
		c.Argv = append([]string{"sh", "-c", o.Code, "sh"}, o.Args...)
		j.policy.Rules = append(j.policy.Rules, policy.Rule{Op: policy.OpExec, Origin: policy.Origin{From: "run_shell"}, Pattern: policy.Pattern{Text: c.Exec, Object: c.Exec}})
		return c
	}
	c.Exec, c.Python = j.layout.Launch, true
	c.Argv = []string{c.Exec, "-I", "-B", "-u", call.Dir + "/" + call.ProgramName}
	return c
}

// launchBox runs it and fills the verdict.
func (j *job) launchBox(o *boxOrder, life *os.File, v *boxVerdict) error {
	j.plan.Env = boxEnvironment(j.plan.Env, j.plan.Command.Env)
	j.plan.Spec.Env = j.plan.Env
	j.bare = true // no signal is for it
	b := &boxWatcher{supervisor: newSupervisor(j), order: o, life: life}
	defer b.close()
	begin := time.Now()
	out, err := launch(j, b)
	v.Cancelled = b.cancelled.Load()
	v.Wall = time.Since(begin)
	j.left(v)
	if err != nil || !out.started {
		if err == nil {
			err = errors.New("the program was not started")
		}
		return err
	}
	v.Started, v.Status, v.Reason, v.Wall = true, out.status, out.reason, out.wall
	if out.died != 0 {
		v.Signal = unix.SignalName(out.died)
	}
	v.User, v.Sys = out.exit.User, out.exit.System
	j.boxFacts(out, b, v)
	b.collect(v)
	return nil
}

// boxEnvironment adds what the box's own environment has beyond what policies speak of; what a policy refuses is not among it.
func boxEnvironment(planned, own []string) []string {
	out := slices.Clone(planned)
	for _, kv := range own {
		name, _, _ := strings.Cut(kv, "=")
		if !slices.ContainsFunc(out, envName(name)) {
			out = append(out, kv)
		}
	}
	return out
}

// left looks for what should be gone.
func (j *job) left(v *boxVerdict) {
	g, err := j.plannedGroups()
	if err != nil {
		return
	}
	for _, dir := range g.dirs {
		if present(dir) {
			v.Left = append(v.Left, "control group "+dir)
		}
	}
}

// boxFacts is what the kernel and the supervisor say of a run.
func (j *job) boxFacts(out outcome, b *boxWatcher, v *boxVerdict) {
	v.Usage = boxUsage{out.usage.MemoryPeak, out.usage.PIDsPeak, out.usage.PIDsRefused, out.usage.OOMKills, out.usage.Unknown}
	if v.Usage.MemoryPeak == 0 {
		v.Usage.MemoryPeak = out.exit.MaxRSS
	}
	for _, l := range j.reportLimits(out) {
		v.Limits = append(v.Limits, boxLimit{l.Name, l.Value, l.Unit, l.Effective, l.Reached})
	}
	found := b.seen.denials(j)
	v.More = found.more.Count
	for _, d := range found.list {
		v.Denials = append(v.Denials, boxDenial{Layer: d.Source, Operation: d.Op, Target: d.Object, Rule: d.Blocker, Policy: d.Rule, Where: d.Where, Count: d.Count})
	}
	v.Provider = string(j.plan.Provider)
	v.Walls = j.walls()
	for _, g := range j.plan.Gaps {
		v.Gaps = append(v.Gaps, g.Name+": "+g.Lost)
	}
	for _, kv := range j.plan.Env {
		name, _, _ := strings.Cut(kv, "=")
		v.Env = append(v.Env, name)
	}
}

// walls are the layers of this plan, in words.
func (j *job) walls() []string {
	out := []string{"namespaces: user, mount, pid, net, ipc, uts, cgroup", fmt.Sprintf("landlock ABI %d", j.facts.landlock.ABI), "seccomp"}
	if j.facts.cgroups.Usable() {
		out = append(out, "control group")
	}
	if j.policy.Shim && j.layout != nil && j.layout.ShimFits() {
		out = append(out, "python layer")
	}
	return out
}

// boxWatcher is the supervisor of an enforced run that also fills the box's private folders before the program starts, and keeps them to be read
// when it is gone.
type boxWatcher struct {
	*supervisor
	order     *boxOrder
	life      *os.File
	workspace *os.File
	call      *os.File
	cancelled atomic.Bool
}

func (b *boxWatcher) attend(box *namespaces.Box, program int) error {
	var err error
	if b.workspace, err = openInside(program, mcpserver.Workspace); err != nil {
		return err
	}
	if b.call, err = openInside(program, call.Dir); err != nil {
		return err
	}
	if err := b.fill(); err != nil {
		return err
	}
	go func() {
		var one [1]byte
		_, _ = b.life.Read(one[:]) // nothing is ever written: it returns when the server hangs up
		b.cancelled.Store(true)
		box.Kill()
	}()
	return b.supervisor.attend(box, program)
}

// fill puts the call's files and, for Python, its program into the box.
func (b *boxWatcher) fill() error {
	owner := fileOwner{int(b.j.plan.Spec.HostUID), int(b.j.plan.Spec.HostGID)}
	for _, f := range b.order.Files {
		if err := putFile(b.workspace, f.Path, f.Content, f.Executable, owner); err != nil {
			return refuse("fewer or smaller files, or a larger disk_mb", "files: %s: %v", plainText(f.Path), err)
		}
	}
	if b.order.Language == string(mcpserver.Shell) {
		return nil
	}
	t := call.Task{Code: b.order.Code, Args: b.order.Args, Variables: b.order.Variables, Figures: b.order.Figures, MostText: 1 << 20, MostReport: mostReport, Workspace: mcpserver.Workspace}
	if t.Args == nil {
		t.Args = []string{}
	}
	if t.Variables == nil {
		t.Variables = []string{}
	}
	text, err := json.Marshal(t)
	if err != nil {
		return err
	}
	if err := putFile(b.call, call.TaskName, text, false, owner); err != nil {
		return err
	}
	return putFile(b.call, call.ProgramName, []byte(call.Program), false, owner)
}

// mostReport bounds what the program may write about itself.
const mostReport = 12 << 20

// collect reads what is new in the workspace, and the program's report.
func (b *boxWatcher) collect(v *boxVerdict) {
	var st unix.Statfs_t
	if unix.Fstatfs(int(b.workspace.Fd()), &st) == nil {
		v.DiskUsed, v.DiskFull = (st.Blocks-st.Bfree)*uint64(st.Bsize), st.Bavail == 0
	}
	if err := collectFiles(b.workspace, b.order, v); err != nil {
		v.LookedAt = err.Error()
	}
	if b.order.Language != string(mcpserver.Shell) {
		if text, size, err := readPlain(b.call, call.ReportName, mostReport); err == nil && size <= mostReport {
			v.Report = text
		}
	}
}

func (b *boxWatcher) close() {
	b.workspace.Close() // nil is fine
	b.call.Close()
}
