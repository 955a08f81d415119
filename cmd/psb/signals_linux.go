// Does to the process: replaces the handlers of the signals people and terminals send; can stop the process.
// Undone: by the end of the process; dieOf puts one back to its default.
// Preconditions: called once, after the runtime has started.
// Called by: launch_linux.go.
// Proved by: the scripts run_signal_* and the terminal tests.

package main

/*
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static int psb_signal_pipe = -1;

// The runtime's own channel of signals drops si_code, which alone tells a terminal's Ctrl-C (the program got it, too) from a signal
// that somebody sent to psb only.
static void psb_on_signal(int sig, siginfo_t *info, void *context) {
	int saved = errno;
	unsigned char note[2] = {(unsigned char)sig, info->si_code <= 0};
	(void)context;
	if (write(psb_signal_pipe, note, 2) != 2) { }
	errno = saved;
}

static int psb_catch(int fd, const int *sigs, int n) {
	struct sigaction act;
	memset(&act, 0, sizeof act);
	act.sa_sigaction = psb_on_signal;
	act.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
	sigfillset(&act.sa_mask);
	psb_signal_pipe = fd;
	for (int i = 0; i < n; i++) {
		struct sigaction old;
		if (sigaction(sigs[i], NULL, &old) == 0 && old.sa_handler == SIG_IGN) continue;
		if (sigaction(sigs[i], &act, NULL) != 0) return errno;
	}
	return 0;
}

// raise(3) speaks to the calling thread: the signal is delivered before it returns.
static void psb_die(int sig) {
	struct sigaction act;
	sigset_t only;
	memset(&act, 0, sizeof act);
	act.sa_handler = SIG_DFL;
	sigaction(sig, &act, NULL);
	sigemptyset(&only);
	sigaddset(&only, sig);
	pthread_sigmask(SIG_UNBLOCK, &only, NULL);
	raise(sig);
}
*/
import "C"

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
)

// arrival is one signal that reached psb.
type arrival struct {
	signal syscall.Signal
	sent   bool // by a process to psb, not by the terminal to everybody in front of it
}

// caught are the signals psb passes on or waits out instead of dying before its program.
var caught = []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2,
	syscall.SIGALRM, syscall.SIGWINCH, syscall.SIGCONT, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU}

// catchSignals delivers what reaches psb from now on; signals ignored by the caller (nohup) stay ignored.
func catchSignals() (<-chan arrival, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("pipe for signals: %w", err)
	}
	if err := syscall.SetNonblock(int(w.Fd()), true); err != nil {
		return nil, fmt.Errorf("pipe for signals: %w", err)
	}
	sigs := make([]C.int, len(caught))
	for i, s := range caught {
		sigs[i] = C.int(s)
	}
	if e := C.psb_catch(C.int(w.Fd()), &sigs[0], C.int(len(sigs))); e != 0 {
		return nil, fmt.Errorf("sigaction: %w", syscall.Errno(e))
	}
	ch := make(chan arrival, 16)
	go func() {
		defer w.Close() // keeps w from being collected while the handler writes to it
		var b [2]byte
		for {
			if n, err := r.Read(b[:]); err != nil || n != 2 {
				return
			}
			ch <- arrival{syscall.Signal(b[0]), b[1] != 0}
		}
	}()
	return ch, nil
}

// stopSelf stops psb as its program was stopped, so that the shell sees a stopped job; it returns when the job goes on.
func stopSelf() error { return syscall.Kill(syscall.Getpid(), syscall.SIGSTOP) }

// dieOf ends psb by the signal that ended its program, without a core file: a shell then sees 128+n and a waiter the signal itself.
func dieOf(sig syscall.Signal) int {
	none := syscall.Rlimit{Cur: 1, Max: 1}            // a core_pattern that is a pipe ignores 0
	_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &none) // a failure costs a core file, nothing else
	runtime.LockOSThread()
	C.psb_die(C.int(sig))
	return 128 + int(sig)
}
