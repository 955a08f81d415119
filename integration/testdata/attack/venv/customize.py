"""Adds the modules that every Python of the environment imports. argv: site-packages."""
import os
import sys

print("started", flush=True)
for act in (lambda: open(sys.argv[1] + "/sitecustomize.py", "x"),
            lambda: open(sys.argv[1] + "/usercustomize.py", "x"),
            lambda: os.mkdir(sys.argv[1] + "/encodings")):
    try:
        act()
    except OSError as e:
        print(e)
