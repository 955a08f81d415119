"""Replaces commands in ~/.local/bin and units in ~/.local/share. argv: the files."""
import os
import sys

print("started", flush=True)
for path in sys.argv[1:]:
    open(os.path.dirname(os.path.dirname(path)) + "/own", "w").close()
    for act in (lambda: os.replace(os.path.dirname(os.path.dirname(path)) + "/own", path), lambda: os.chmod(path, 0o755), lambda: open(path, "w")):
        try:
            act()
        except OSError as e:
            print(e)
