"""Makes a program of its own set-user-ID by every call that sets a mode. argv: the program."""
import ctypes
import os
import sys

print("started", flush=True)
path = sys.argv[1]
libc = ctypes.CDLL(None, use_errno=True)
for act in (lambda: os.chmod(path, 0o4755),
            lambda: os.fchmod(os.open(path, os.O_RDONLY), 0o4755),
            lambda: os.chmod(os.path.basename(path), 0o4755, dir_fd=os.open(os.path.dirname(path), os.O_RDONLY)),
            lambda: print(libc.syscall(452, -100, path.encode(), 0o4755, 0), ctypes.get_errno()),
            lambda: os.chmod(path, 0o2755)):
    try:
        act()
    except OSError as e:
        print(e)
