"""Writes the settings of one work tree, and its pointer to the common folder. argv: the files."""
import os
import sys

print("started", flush=True)
for path in sys.argv[1:]:
    for act in (lambda: open(path, "a").write("\n[core]\n\tfsmonitor = touch pwned\n"), lambda: os.unlink(path)):
        try:
            act()
        except OSError as e:
            print(e)
