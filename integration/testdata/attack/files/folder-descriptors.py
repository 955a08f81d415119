"""Climbs with folder descriptors instead of paths, then goes down again. argv: the folder, the file in it."""
import os
import sys

print("started", flush=True)
folder, name = sys.argv[1:]
at = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
for flags in (os.O_RDONLY, os.O_PATH):
    try:
        up = os.open("..", flags | os.O_DIRECTORY, dir_fd=at)
        down = os.open(os.path.basename(folder), flags | os.O_DIRECTORY, dir_fd=up)
        print(os.read(os.open(name, os.O_RDONLY, dir_fd=down), 4096))
    except OSError as e:
        print(e)
