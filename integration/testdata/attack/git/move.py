"""Moves the whole repository away and makes one of its own. argv: the folder .git."""
import os
import shutil
import sys

print("started", flush=True)
for act in (lambda: os.rename(sys.argv[1], sys.argv[1] + ".away"),
            lambda: shutil.rmtree(sys.argv[1]),
            lambda: os.makedirs(sys.argv[1] + "/hooks")):
    try:
        act()
    except OSError as e:
        print(e)
