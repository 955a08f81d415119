"""Reads what is hidden under another name that the file has had all along. argv: that name."""
import os
import sys

print("started", flush=True)
for act in (lambda: print(open(sys.argv[1]).read()),):
    try:
        act()
    except OSError as e:
        print(e)
