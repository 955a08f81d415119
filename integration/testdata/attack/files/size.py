"""Asks for the size of a file outside. argv: the file."""
import os
import sys

print("started", flush=True)
for ask in (os.stat, os.lstat, lambda p: os.stat(os.open(p, os.O_PATH)), lambda p: [e for e in os.scandir(os.path.dirname(p)) if e.path == p][0].stat()):
    try:
        print("size", ask(sys.argv[1]).st_size)
    except (OSError, IndexError) as e:
        print(e)
