"""Makes names of every kind in a folder it may only read. argv: the folder."""
import os
import socket
import sys

print("started", flush=True)
at = sys.argv[1] + "/"
for act in (lambda: open(at + "a", "x"), lambda: os.mkdir(at + "b"), lambda: os.symlink("x", at + "c"), lambda: os.mkfifo(at + "d"),
            lambda: os.mknod(at + "e"), lambda: os.link(at + "file", at + "f"), lambda: socket.socket(socket.AF_UNIX).bind(at + "g")):
    try:
        act()
    except OSError as e:
        print(e)
