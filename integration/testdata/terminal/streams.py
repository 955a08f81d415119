# Tells of each of its first three descriptors what it is, by the exit status alone: one bit for each that is open.
import os
import sys

bits = 0
for fd in range(3):
    try:
        os.fstat(fd)
        bits |= 1 << fd
    except OSError:
        pass
os._exit(bits + (8 if sys.stdin is None else 0) + (16 if sys.stdout is None else 0) + (32 if sys.stderr is None else 0))
