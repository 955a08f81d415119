"""Fills the folder of shared memory. argv: the folder, how many MiB, a word to be found by."""
import os
import sys

print("started", flush=True)
fd = os.open(os.path.join(sys.argv[1], "psb-attack-" + sys.argv[3]), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
os.unlink(os.path.join(sys.argv[1], "psb-attack-" + sys.argv[3]))
piece, n = b"x" * (1 << 20), 0
try:
    while n < int(sys.argv[2]) << 20:
        n += os.write(fd, piece)
except OSError as e:
    print(e.strerror, "after", n)
print("ready", flush=True)
sys.stdin.read()
