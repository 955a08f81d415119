"""Looks for processes of the host and ends one. argv: a process id."""
import os
import signal
import sys

print("started", flush=True)
for name in os.listdir("/proc"):
    if name.isdigit():
        try:
            with open("/proc/%s/cmdline" % name) as f:
                print(name, f.read().split("\0"))
        except OSError as e:
            print(name, e.strerror)
try:
    os.kill(int(sys.argv[1]), signal.SIGTERM)
except OSError as e:
    print("kill", e.strerror)
