// Does to the process: replaces the handlers of the signals people and terminals send; can stop the process.
// Undone: by the end of the process; dieOf puts one back to its default.
// Preconditions: called once, after the runtime has started.
// Called by: launch_linux.go.
// Proved by: the scripts run_signal_* and the terminal tests.

package main

/*
#include <pthread.h>
#include <signal.h>
#include <string.h>

// The runtime keeps its handler for a signal that is no longer asked for; job control needs the kernel's own meaning.
static void psb_default(int sig) {
	struct sigaction act;
	memset(&act, 0, sizeof act);
	act.sa_handler = SIG_DFL;
	sigaction(sig, &act, NULL);
}

// raise(3) speaks to the calling thread: the signal is delivered before it returns.
static void psb_die(int sig) {
	sigset_t only;
	psb_default(sig);
	sigemptyset(&only);
	sigaddset(&only, sig);
	pthread_sigmask(SIG_UNBLOCK, &only, NULL);
	raise(sig);
}
*/
import "C"

import (
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"psb/namespaces"
)

// caught are the signals psb passes on or waits out instead of dying before its program.
var caught = []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2,
	syscall.SIGALRM, syscall.SIGWINCH, syscall.SIGCONT, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU}

// catchSignals delivers what reaches psb from now on; signals ignored by the caller (nohup) stay ignored. Whether the program got one,
// too, only the reaper can tell: everything is passed to it. release gives the signals their old meaning back: once the box is gone, a
// psb that writes to a terminal behind another job must stop like any program.
func catchSignals() (arrivals <-chan os.Signal, release func()) {
	ch := make(chan os.Signal, 64)
	ignored := namespaces.IgnoredAtStart()
	for _, s := range caught {
		if ignored>>(s-1)&1 == 0 {
			signal.Notify(ch, s)
		}
	}
	return ch, func() {
		signal.Stop(ch)
		for _, s := range []syscall.Signal{syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU} {
			if ignored>>(s-1)&1 == 0 {
				C.psb_default(C.int(s))
			}
		}
	}
}

// hasTerminal: psb belongs to a session with a terminal, so that somebody can let a stopped job go on.
func hasTerminal() bool {
	fd, err := syscall.Open("/dev/tty", syscall.O_RDONLY|syscall.O_NOCTTY|syscall.O_CLOEXEC, 0)
	if err == nil {
		syscall.Close(fd)
	}
	return err == nil
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
