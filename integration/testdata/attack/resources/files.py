"""Opens descriptors until there are no more, and makes a refused call then. argv: how many at most."""
import ctypes
import os
import sys

print("started", flush=True)
libc = ctypes.CDLL(None, use_errno=True)
fds = []
try:
    while len(fds) < int(sys.argv[1]):
        fds.append(os.open("/dev/null", os.O_RDONLY))
    print("reached", len(fds), "descriptors")
except OSError as e:
    print(e.strerror, "after", len(fds))
libc.syscall(250, 0, -4, 0)  # keyctl
print("asked keyctl", ctypes.get_errno())
