"""Moves a file from outside into its own folder. argv: the file, the place."""
import os
import sys

print("started", flush=True)
try:
    os.rename(*sys.argv[1:])
except OSError as e:
    print(e)
