"""Writes into files that stood in a folder where it may only make new ones. argv: the file."""
import os
import sys

print("started", flush=True)
for act in (lambda: os.write(os.open(sys.argv[1], os.O_WRONLY), b"written from inside"),
            lambda: open(sys.argv[1], "w"),
            lambda: open(sys.argv[1], "a").write("written from inside"),
            lambda: os.truncate(sys.argv[1], 0)):
    try:
        act()
    except OSError as e:
        print(e)
