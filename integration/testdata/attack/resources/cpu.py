"""Computes without end, deaf to what tells it to stop. argv: for how many seconds of CPU at most."""
import signal
import sys
import time

print("started", flush=True)
signal.signal(signal.SIGXCPU, signal.SIG_IGN)
while time.process_time() < float(sys.argv[1]):
    pass
print("reached", sys.argv[1], "seconds of CPU")
