"""Gives a file it may only read another owner, or the same one anew. argv: the file."""
import os
import sys

print("started", flush=True)
path = sys.argv[1]
for act in (lambda: os.chown(path, 1, 1), lambda: os.chown(path, os.getuid(), os.getgid()), lambda: os.lchown(path, -1, os.getgid()),
            lambda: os.fchown(os.open(path, os.O_RDONLY), -1, os.getgid())):
    try:
        act()
    except OSError as e:
        print(e)
