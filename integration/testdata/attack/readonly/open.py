"""Opens a file it may only read in every way that writes. argv: the file."""
import os
import sys

print("started", flush=True)
for flags in (os.O_RDWR, os.O_WRONLY, os.O_WRONLY | os.O_APPEND, os.O_RDONLY | os.O_TRUNC, os.O_WRONLY | os.O_CREAT | os.O_TRUNC):
    try:
        os.write(os.open(sys.argv[1], flags), b"written from inside")
    except OSError as e:
        print(e)
