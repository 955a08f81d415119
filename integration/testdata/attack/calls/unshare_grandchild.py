"""Leaves the user and the pid namespace in a grandchild in a session of its own, whose child would be process 1."""
import ctypes
import os

print("started", flush=True)
libc = ctypes.CDLL(None, use_errno=True)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        if libc.unshare(0x10000000 | 0x20000000) < 0:
            print("unshare", os.strerror(ctypes.get_errno()), flush=True)
        elif os.fork() == 0:
            print("reached a pid namespace as process", os.getpid(), flush=True)
            os._exit(0)
        else:
            os.wait()
        os._exit(0)
    os.wait()
    os._exit(0)
os.wait()
