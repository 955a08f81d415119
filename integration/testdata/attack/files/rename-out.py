"""Moves a file of its own into a folder outside. argv: the file, the place."""
import os
import shutil
import sys

print("started", flush=True)
open(sys.argv[1], "w").close()
for move in (os.rename, os.replace, os.link, shutil.move):
    try:
        move(*sys.argv[1:])
    except OSError as e:
        print(e)
