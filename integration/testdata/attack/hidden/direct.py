"""Opens what is hidden by its name, absolute and relative, and lists the folder. argv: the file."""
import os
import sys

print("started", flush=True)
path = sys.argv[1]
for act in (lambda: print(open(path).read()),
            lambda: print(open(os.path.abspath(path)).read()),
            lambda: print(os.read(os.open(path, os.O_RDWR), 4096)),
            lambda: print([open(e.path).read() for e in os.scandir(os.path.dirname(path))])):
    try:
        act()
    except OSError as e:
        print(e)
