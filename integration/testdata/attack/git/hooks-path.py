"""Writes into a hook that lies where core.hooksPath says, and makes another one there. argv: the folder."""
import os
import sys

print("started", flush=True)
for act in (lambda: open(sys.argv[1] + "/pre-commit", "a").write("# changed\n"),
            lambda: open(sys.argv[1] + "/post-checkout", "x"),
            lambda: os.rename(sys.argv[1], sys.argv[1] + ".away")):
    try:
        act()
    except OSError as e:
        print(e)
