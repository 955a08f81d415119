"""Reads the text of a link outside. argv: the link."""
import os
import sys

print("started", flush=True)
for way in (sys.argv[1], "/proc/self/root" + sys.argv[1]):
    try:
        print(os.readlink(way))
    except OSError as e:
        print(e)
