"""Leaves many processes behind, each orphaned in a session of its own, deaf and without descriptors. argv: a word to be found by."""
import os
import signal
import time

print("started", flush=True)
r, w = os.pipe()
for _ in range(20):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for s in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
                signal.signal(s, signal.SIG_IGN)
            os.write(w, b"x")
            os.closerange(0, 64)
            time.sleep(20)
        os._exit(0)
    os.wait()
n = 0
while n < 20:
    n += len(os.read(r, 20))
