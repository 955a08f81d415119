"""Gives a file outside a name in a folder it may write, and reads that. argv: the file, the name."""
import os
import sys

print("started", flush=True)
target, name = sys.argv[1:]
try:
    os.link(target, name)
except OSError as e:
    print(e)
print(open(name).read())
