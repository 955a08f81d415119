"""Mounts a file system by the newer calls, over a folder it may write. argv: the folder."""
import ctypes
import os
import sys

print("started", flush=True)
libc = ctypes.CDLL(None, use_errno=True)


def call(name, *args):
    r = libc.syscall(*(ctypes.c_long(a) if isinstance(a, int) else a for a in args))
    if r < 0:
        print(name, os.strerror(ctypes.get_errno()))
    return r


before = os.stat(sys.argv[1]).st_dev
libc.unshare(0x10020000)  # user, mount
fs = call("fsopen", 430, b"tmpfs", 0)
call("fsconfig", 431, fs, 6, None, None, 0)  # FSCONFIG_CMD_CREATE
mount = call("fsmount", 432, fs, 0, 0)
call("mount_setattr", 442, mount, b"", 0x1000, bytes(32), 32)
call("move_mount", 429, mount, b"", -100, sys.argv[1].encode(), 4)  # MOVE_MOUNT_F_EMPTY_PATH
call("fspick", 433, -100, b"/", 0)
if os.stat(sys.argv[1]).st_dev != before:
    print("reached a mount of its own")
