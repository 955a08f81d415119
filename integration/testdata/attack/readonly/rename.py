"""Moves files within a folder it may only read, out of it, and over one of its files. argv: the file, a folder it may write."""
import os
import sys

print("started", flush=True)
path, out = sys.argv[1:]
open(out + "/own", "w").close()
for act in (lambda: os.rename(path, path + ".moved"), lambda: os.rename(path, out + "/stolen"), lambda: os.replace(out + "/own", path),
            lambda: os.rename(os.path.dirname(path), out + "/tree")):
    try:
        act()
    except OSError as e:
        print(e)
