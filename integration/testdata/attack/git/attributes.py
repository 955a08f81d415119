"""Names a filter, which git runs, for every file. argv: the attributes."""
import os
import sys

print("started", flush=True)
for act in (lambda: open(sys.argv[1], "a").write("* filter=own\n"),
            lambda: os.rename(os.path.dirname(sys.argv[1]), os.path.dirname(sys.argv[1]) + ".away")):
    try:
        act()
    except OSError as e:
        print(e)
