// Does to the process: replaces the handlers of the signals people and terminals send; can stop the process.
// Undone: by the end of the process; dieOf puts one back to its default.
// Preconditions: called once, after the runtime has started.
// Called by: launch_linux.go.
// Proved by: the scripts run_signal_* and the terminal tests.

package main

/*
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

// The runtime keeps its handler for a signal that is no longer asked for; job control needs the kernel's own meaning.
static void psb_default(int sig) {
	struct sigaction act;
	memset(&act, 0, sizeof act);
	act.sa_handler = SIG_DFL;
	sigaction(sig, &act, NULL);
}

static void (*runtimes[65])(int, siginfo_t *, void *); // what the runtime had set
static atomic_bool by_others[65];                       // one came that is not the terminal's, since it was last asked for

static void psb_note(int sig, siginfo_t *info, void *context) {
	if (info->si_code != SI_KERNEL) atomic_store(&by_others[sig], true);
	runtimes[sig](sig, info, context);
}

// note: who sends a signal is told to its handler alone, and the runtime's does not pass it on.
static void psb_note_senders_of(int sig) {
	struct sigaction act;
	if (sigaction(sig, NULL, &act) != 0 || !(act.sa_flags & SA_SIGINFO) || act.sa_sigaction == psb_note) return;
	runtimes[sig] = act.sa_sigaction;
	act.sa_sigaction = psb_note;
	sigaction(sig, &act, NULL);
}

static bool psb_by_terminal(int sig) { return runtimes[sig] && !atomic_exchange(&by_others[sig], false); }

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
	"slices"
	"syscall"

	"psb/namespaces"
)

// caught are the signals psb passes on or waits out instead of dying before its program.
var caught = []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2,
	syscall.SIGALRM, syscall.SIGWINCH, syscall.SIGCONT, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU}

// terminals are the signals a terminal sends to all of its foreground group: psb and the program alike.
var terminals = []syscall.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGWINCH, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU}

// ofTerminal: all that came of this signal since the last answer was a terminal's. Asked once for each that arrives.
func ofTerminal(s syscall.Signal) bool {
	return slices.Contains(terminals, s) && bool(C.psb_by_terminal(C.int(s)))
}

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
	for _, s := range terminals {
		if ignored>>(s-1)&1 == 0 {
			C.psb_note_senders_of(C.int(s))
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
