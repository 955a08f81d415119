"""Leaves a process behind that has left its session, its parent and its descriptors. argv: a word to be found by."""
import os
import sys
import time

print("started", flush=True)
r, w = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        null = os.open("/dev/null", os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        os.write(w, b"!")
        os.closerange(3, 64)
        time.sleep(120)
    os._exit(0)
os.read(r, 1)  # it lives
