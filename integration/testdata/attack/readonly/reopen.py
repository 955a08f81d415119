"""Opens a file for reading, and the open file for writing. argv: the file."""
import os
import sys

print("started", flush=True)
for flags in (os.O_RDONLY, os.O_PATH):
    fd = os.open(sys.argv[1], flags)
    for way in ("/proc/self/fd/%d", "/dev/fd/%d", "/proc/thread-self/fd/%d"):
        for how in ("r+", "a", "w"):
            try:
                with open(way % fd, how) as f:
                    f.write("written from inside")
            except OSError as e:
                print(e)
