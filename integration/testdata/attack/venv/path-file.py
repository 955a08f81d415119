"""Adds a .pth file, whose lines every Python of the environment runs. argv: site-packages."""
import sys

print("started", flush=True)
for act in (lambda: open(sys.argv[1] + "/own.pth", "x").write("import os\n"),
            lambda: open(sys.argv[1] + "/kept.pth", "a").write("import os\n")):
    try:
        act()
    except OSError as e:
        print(e)
