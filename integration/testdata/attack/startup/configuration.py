"""Writes what a desktop or a shell starts, below ~/.config. argv: the files."""
import os
import sys

print("started", flush=True)
for path in sys.argv[1:]:
    for act in (lambda: open(path, "a").write("# changed\n"), lambda: os.unlink(path), lambda: os.rename(os.path.dirname(path), os.path.dirname(path) + ".away")):
        try:
            act()
        except OSError as e:
            print(e)
