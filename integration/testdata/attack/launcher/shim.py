"""Writes into the file that carries psb's code inside Python. argv: the file; without one, that of this Python."""
import os
import sys

print("started", flush=True)
import encodings

path = sys.argv[1] if len(sys.argv) > 1 else encodings.__file__
for act in (lambda: open(path, "a").write("\n"), lambda: os.replace("attack.py", path), lambda: os.unlink(path), lambda: os.chmod(path, 0o666)):
    try:
        act()
    except OSError as e:
        print(e)
