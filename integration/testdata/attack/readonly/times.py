"""Changes the times of a file it may only read. argv: the file."""
import os
import sys

print("started", flush=True)
path = sys.argv[1]
for act in (lambda: os.utime(path, (1, 1)), lambda: os.utime(path), lambda: os.utime(os.open(path, os.O_RDONLY), (1, 1)),
            lambda: os.utime(path, (1, 1), follow_symlinks=False)):
    try:
        act()
    except OSError as e:
        print(e)
