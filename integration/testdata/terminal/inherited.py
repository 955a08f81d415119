# Prints which signals are blocked and which are ignored.
import signal

print("blocked", sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])))
print("ignored", [s for s in sorted(signal.valid_signals()) if signal.getsignal(s) == signal.SIG_IGN])
