"""Leaves a key behind for whoever comes later. argv: its name, its text."""
import ctypes
import os
import sys

print("started", flush=True)
libc = ctypes.CDLL(None, use_errno=True)
key = libc.syscall(248, b"user", sys.argv[1].encode(), sys.argv[2].encode(), ctypes.c_long(len(sys.argv[2])), -4)
if key < 0:
    print("add_key", os.strerror(ctypes.get_errno()))
libc.syscall(250, 15, key, 60)  # keyctl SET_TIMEOUT: it goes by itself
