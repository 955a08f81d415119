# Goes on when SIGUSR1 comes, and asks the terminal nothing.
import signal

signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
print("ready", flush=True)
signal.sigwait({signal.SIGUSR1})
print("went on", flush=True)
