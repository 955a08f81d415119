"""Writes into a hook that stands there. argv: the hook."""
import os
import sys

print("started", flush=True)
for act in (lambda: open(sys.argv[1], "a").write("# changed\n"),
            lambda: os.truncate(sys.argv[1], 0),
            lambda: os.unlink(sys.argv[1]),
            lambda: os.chmod(sys.argv[1], 0o755)):
    try:
        act()
    except OSError as e:
        print(e)
