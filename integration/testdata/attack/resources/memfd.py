"""Fills memory that no process has mapped: a file in memory. argv: nothing, how many MiB, a word to be found by."""
import os
import sys

print("started", flush=True)
fd = os.memfd_create("full")
piece, n = b"x" * (1 << 20), 0
try:
    while n < int(sys.argv[2]) << 20:
        n += os.write(fd, piece)
except OSError as e:
    print(e.strerror, "after", n)
print("ready", flush=True)
sys.stdin.read()
