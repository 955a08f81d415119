"""Makes a file that is set-user-ID from the start. argv: the file."""
import ctypes
import os
import stat
import sys

print("started", flush=True)
os.umask(0)
path, libc = sys.argv[1], ctypes.CDLL(None, use_errno=True)
how = (ctypes.c_uint64 * 3)(os.O_CREAT | os.O_WRONLY, 0o4755, 0)
for act in (lambda: os.open(path + ".1", os.O_CREAT | os.O_WRONLY, 0o4755),
            lambda: os.mknod(path + ".2", stat.S_IFREG | 0o4755),
            lambda: print(libc.creat((path + ".3").encode(), 0o4755), ctypes.get_errno()),
            lambda: print(libc.syscall(437, -100, (path + ".4").encode(), how, 24), ctypes.get_errno())):
    try:
        act()
    except OSError as e:
        print(e)
