"""Leaves its root in the old way: a second chroot below the first, and up from a folder outside of it. argv: a folder, a file."""
import ctypes
import os
import sys

print("started", flush=True)
libc = ctypes.CDLL(None, use_errno=True)
libc.unshare(0x10000000)  # user, for the right
folder, path = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
for place in (folder, "."):
    if place == ".":
        for _ in range(64):
            os.chdir("..")
    if libc.chroot(place.encode()) < 0:
        print("chroot", os.strerror(ctypes.get_errno()))
    elif place != ".":
        print("reached a root of its own choice")
try:
    print(open(path).read())
except OSError as e:
    print(e.strerror)
