"""Removes files of a folder it may only read, one by one and as a tree. argv: the file."""
import os
import shutil
import sys

print("started", flush=True)
for act in (lambda: os.unlink(sys.argv[1]), lambda: shutil.rmtree(os.path.dirname(sys.argv[1]))):
    try:
        act()
    except OSError as e:
        print(e)
