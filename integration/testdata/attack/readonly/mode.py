"""Changes the mode of a file it may only read. argv: the file."""
import ctypes
import os
import sys

print("started", flush=True)
path = sys.argv[1]
libc = ctypes.CDLL(None, use_errno=True)
for act in (lambda: os.chmod(path, 0o777), lambda: os.fchmod(os.open(path, os.O_RDONLY), 0o777),
            lambda: os.chmod("/proc/self/fd/%d" % os.open(path, os.O_PATH), 0o777),
            lambda: print(libc.syscall(452, -100, path.encode(), 0o777, 0), ctypes.get_errno())):  # fchmodat2
    try:
        act()
    except OSError as e:
        print(e)
