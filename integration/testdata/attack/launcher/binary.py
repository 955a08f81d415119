"""Writes into the program that started it, by the path it knows and through /proc. argv: the program."""
import os
import sys

print("started", flush=True)
for path in [sys.argv[1], "/proc/1/exe", "/proc/%d/exe" % os.getppid()]:
    for flags in (os.O_WRONLY | os.O_APPEND, os.O_RDWR):
        try:
            os.write(os.open(path, flags), b"\n")
        except OSError as e:
            print(path, e.strerror)
