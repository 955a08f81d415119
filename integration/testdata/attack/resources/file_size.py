"""Writes one file without end into a folder it was granted. argv: the folder, how many MiB, a word to be found by."""
import os
import sys

print("started", flush=True)
fd = os.open(os.path.join(sys.argv[1], "full"), os.O_CREAT | os.O_WRONLY, 0o644)
piece, n = b"x" * (1 << 20), 0
try:
    while n < int(sys.argv[2]) << 20:
        n += os.write(fd, piece)
except OSError as e:
    print(e.strerror, "after", n)
print("ready", flush=True)
sys.stdin.read()
