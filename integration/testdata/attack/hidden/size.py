"""Asks for size and times of a file that is hidden. argv: the file."""
import os
import sys

print("started", flush=True)
for act in (lambda: print(os.stat(sys.argv[1]).st_size),
            lambda: print(os.lstat(os.path.abspath(sys.argv[1])).st_size),
            lambda: print([e.stat().st_size for e in os.scandir(os.path.dirname(sys.argv[1]))])):
    try:
        act()
    except OSError as e:
        print(e)
