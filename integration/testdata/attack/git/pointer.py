"""Points a work tree to a git folder of its own making. argv: the file .git."""
import os
import sys

print("started", flush=True)
os.makedirs("own/hooks", exist_ok=True)
for act in (lambda: open(sys.argv[1], "w").write("gitdir: ../own\n"),
            lambda: os.unlink(sys.argv[1]),
            lambda: os.mkdir(sys.argv[1])):
    try:
        act()
    except OSError as e:
        print(e)
