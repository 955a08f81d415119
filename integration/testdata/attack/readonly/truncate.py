"""Shortens or lengthens a file it may only read. argv: the file."""
import ctypes
import os
import sys

print("started", flush=True)
libc = ctypes.CDLL(None, use_errno=True)
path = sys.argv[1].encode()
for size in (0, 100):
    print(libc.truncate(path, ctypes.c_long(size)), ctypes.get_errno())
fd = os.open(path, os.O_RDONLY)
print(libc.ftruncate(fd, ctypes.c_long(0)), libc.fallocate(fd, 0, ctypes.c_long(0), ctypes.c_long(4096)), ctypes.get_errno())
