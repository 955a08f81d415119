"""Makes a set-user-ID file by the one call whose mode stands in memory, and by all others. argv: a folder."""
import ctypes
import os
import stat
import struct
import sys

print("started", flush=True)
libc = ctypes.CDLL(None, use_errno=True)
path = os.path.join(sys.argv[1], "acts").encode()
how = struct.pack("=QQQ", os.O_CREAT | os.O_WRONLY, 0o6755, 0)
for name, act in (("openat2", lambda: libc.syscall(437, -100, path + b"1", how, ctypes.c_long(24))), ("open", lambda: libc.open(path + b"2", 0o101, 0o6755)),
                  ("creat", lambda: libc.creat(path + b"3", 0o6755)), ("mknod", lambda: libc.mknod(path + b"4", 0o104755, ctypes.c_long(0))),
                  ("chmod", lambda: libc.chmod(path + b"4", 0o4755)), ("high bits", lambda: libc.syscall(90, path + b"4", ctypes.c_long(1 << 32 | 0o4755)))):
    if act() < 0:
        print(name, os.strerror(ctypes.get_errno()))
