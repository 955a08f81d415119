"""Removes a folder outside with all that is in it. argv: the folder."""
import os
import shutil
import sys

print("started", flush=True)
shutil.rmtree(sys.argv[1], ignore_errors=True)
try:
    os.rename(sys.argv[1], "in/stolen")
except OSError as e:
    print(e)
