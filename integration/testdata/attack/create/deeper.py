"""Makes names one folder deeper than it may. argv: the folder."""
import os
import sys

print("started", flush=True)
for act in (lambda: open(sys.argv[1] + "/made", "x"),
            lambda: os.mkdir(sys.argv[1] + "/made-folder"),
            lambda: os.symlink("x", sys.argv[1] + "/made-link")):
    try:
        act()
    except OSError as e:
        print(e)
