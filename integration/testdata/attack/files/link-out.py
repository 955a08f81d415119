"""Writes through a link of its own making to a name outside that is not there yet. argv: the name, the link."""
import os
import sys

print("started", flush=True)
target, link = sys.argv[1:]
os.symlink(target, link)
for flags in (os.O_WRONLY | os.O_CREAT, os.O_RDWR | os.O_CREAT | os.O_TRUNC):
    try:
        os.write(os.open(link, flags, 0o644), b"written from inside")
    except OSError as e:
        print(e)
