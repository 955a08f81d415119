"""Points the environment to another Python. argv: pyvenv.cfg."""
import os
import sys

print("started", flush=True)
for act in (lambda: open(sys.argv[1], "a").write("home = /tmp\n"),
            lambda: os.unlink(sys.argv[1]),
            lambda: os.rename(os.path.dirname(sys.argv[1]), os.path.dirname(sys.argv[1]) + ".away")):
    try:
        act()
    except OSError as e:
        print(e)
