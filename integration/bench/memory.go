package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// memory prints what psb's own processes hold while the program waits: the sum of their PSS in MiB, so that pages they share count once.
func memory(psb string, boxed peer) (float64, error) {
	first, err := boxed.command(row{args: []string{"idle.py"}}) // its input is empty: it ends at once, and its launch is kept
	if err != nil {
		return 0, err
	}
	if err := first.Run(); err != nil {
		return 0, err
	}
	return held("own memory while idle (PSS)", psb, boxed, "idle.py")
}

// memoryOfBroker prints the same while the program holds 1 000 connections to the host open, which psb made for it.
func memoryOfBroker(psb string, boxed peer, w *world) (float64, error) {
	host, port, _ := net.SplitHostPort(w.web.Addr().String())
	return held("memory with 1 000 connections open (PSS)", psb, boxed, "net.py", "hold", "1000", host, port)
}

const memoryOfLearnerRow = "learn-memory"

// memoryOfLearner prints the most memory psb held (its resident set) while it learned runs of ever more opens: of the same 20 000 files again and
// again, or each of a name that nobody has.
func memoryOfLearner(learner peer, words string, events int) (result, error) {
	about := "peak of the learner, the same files"
	if words == "new" {
		about = "peak of the learner, new names"
	}
	got := result{Row: memoryOfLearnerRow, About: about, Unit: "MiB"}
	fmt.Printf("  %-36s", about)
	for _, n := range []int{events / 100, events / 10, events} {
		cmd, err := learner.command(row{args: []string{"long.py", words, strconv.Itoa(n)}})
		if err != nil {
			return got, err
		}
		if said, err := cmd.CombinedOutput(); err != nil {
			return got, fmt.Errorf("%s: %w\n%s", about, err, said)
		}
		used, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
		if !ok {
			return got, fmt.Errorf("%s: no usage of the learner", about)
		}
		peak := float64(used.Maxrss) / 1024
		fmt.Printf("  %d opens %.0f MiB", n, peak)
		got.Peers = append(got.Peers, peerTimes{Peer: strconv.Itoa(n) + " opens", Rounds: []float64{peak}})
	}
	fmt.Println()
	return got, nil
}

// held measures while a program waits, from the line it prints until its input ends.
func held(title, psb string, boxed peer, args ...string) (float64, error) {
	cmd, err := boxed.command(row{args: args})
	if err != nil {
		return 0, err
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return 0, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	defer cmd.Wait()
	defer in.Close()
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		return 0, fmt.Errorf("the waiting program said %q: %w", line, err)
	}
	return together(title, psb, cmd.Process.Pid)
}

// together adds up what the processes of psb that descend from pid hold.
func together(title, psb string, pid int) (float64, error) {
	binary, err := filepath.EvalSymlinks(psb)
	if err != nil {
		return 0, err
	}
	rollups, err := filepath.Glob("/proc/[0-9]*/smaps_rollup")
	if err != nil {
		return 0, err
	}
	fmt.Println(title)
	total := 0.0
	for _, file := range rollups {
		dir := filepath.Dir(file)
		exe, err := os.Readlink(filepath.Join(dir, "exe"))
		if err != nil || exe != binary || !below(filepath.Base(dir), pid) {
			continue
		}
		mib, err := pssOf(file)
		if err != nil {
			fmt.Printf("  process %s: %v\n", filepath.Base(dir), err)
			continue
		}
		name, _, _ := strings.Cut(commandLine(filepath.Base(dir)), "\x00")
		fmt.Printf("  %-12s %6.1f MiB\n", filepath.Base(name), mib)
		total += mib
	}
	fmt.Printf("  %-12s %6.1f MiB\n", "together", total)
	return total, nil
}

// pss is what a process holds, pages that it shares with others in part.
func pss(pid int) (float64, error) { return pssOf("/proc/" + strconv.Itoa(pid) + "/smaps_rollup") }

func pssOf(file string) (mib float64, err error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "Pss:" {
			kib, err := strconv.Atoi(f[1])
			return float64(kib) / 1024, err
		}
	}
	return 0, fmt.Errorf("%s: no Pss", file)
}

func commandLine(pid string) string {
	b, _ := os.ReadFile(filepath.Join("/proc", pid, "cmdline"))
	return string(b)
}

// below reports whether the process is pid or descends from it.
func below(process string, pid int) bool {
	for process != "0" && process != "" {
		if process == strconv.Itoa(pid) {
			return true
		}
		b, err := os.ReadFile(filepath.Join("/proc", process, "stat"))
		if err != nil {
			return false
		}
		f := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
		if len(f) < 2 {
			return false
		}
		process = f[1]
	}
	return false
}
