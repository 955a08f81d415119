"""Writes hooks and settings of a submodule. argv: the folder of its repository."""
import os
import sys

print("started", flush=True)
for act in (lambda: open(sys.argv[1] + "/config", "a").write("[core]\n"),
            lambda: open(sys.argv[1] + "/hooks/post-checkout", "a").write("# changed\n"),
            lambda: os.rename(sys.argv[1], sys.argv[1] + ".away")):
    try:
        act()
    except OSError as e:
        print(e)
