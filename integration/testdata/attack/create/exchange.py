"""Exchanges what stood there with a file of its own in one step, by three calls. argv: the file."""
import ctypes
import sys

print("started", flush=True)
libc = ctypes.CDLL(None, use_errno=True)
path = sys.argv[1].encode()
open(path + b".new", "w").close()
for flags in (2, 1, 0):
    print(libc.renameat2(-100, path + b".new", -100, path, flags), ctypes.get_errno())
    print(libc.syscall(316, -100, path, -100, path + b".new", flags), ctypes.get_errno())
