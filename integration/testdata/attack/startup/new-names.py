"""Makes units, autostart entries and commands beside those that stand there. argv: the folders."""
import os
import sys

print("started", flush=True)
for folder in sys.argv[1:]:
    for act in (lambda: open(folder + "/new", "x"), lambda: os.symlink("/bin/sh", folder + "/link"), lambda: os.mkdir(folder + "/folder")):
        try:
            act()
        except OSError as e:
            print(e)
