"""Gives a file a number that names it past every path, and opens it by that number where it may. argv: the file."""
import ctypes
import os
import struct
import sys

print("started", flush=True)
libc = ctypes.CDLL(None, use_errno=True)
handle, mount = ctypes.create_string_buffer(struct.pack("=Ii", 128, 0) + bytes(128)), ctypes.c_int()
for path in (sys.argv[1], "attack.py", "/proc/self/exe"):
    if libc.name_to_handle_at(-100, path.encode(), handle, ctypes.byref(mount), 0) == 0:
        print("reached the handle of", path)
        break
    print("name_to_handle_at", os.strerror(ctypes.get_errno()))
fd = libc.open_by_handle_at(os.open(".", os.O_RDONLY | os.O_PATH), handle, os.O_RDONLY)
print("open_by_handle_at", "" if fd >= 0 else os.strerror(ctypes.get_errno()))
