# Counts a signal until a line comes, so that one that arrives twice is seen.
import signal
import sys

count = 0


def caught(*_):
    global count
    count += 1


for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGUSR1, signal.SIGWINCH):
    signal.signal(number, caught)
print("ready", flush=True)
for text in sys.stdin:
    print("caught %d" % count, flush=True)
