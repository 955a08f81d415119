"""Removes and moves away what stood there. argv: the file, the folder."""
import os
import shutil
import sys

print("started", flush=True)
for act in (lambda: os.unlink(sys.argv[1]),
            lambda: os.rename(sys.argv[1], sys.argv[1] + ".away"),
            lambda: os.rename(sys.argv[2], sys.argv[2] + ".away"),
            lambda: shutil.rmtree(sys.argv[2])):
    try:
        act()
    except OSError as e:
        print(e)
