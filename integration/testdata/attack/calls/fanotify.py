"""Watches what others open: everything on the mount, or at least what happens in a folder."""
import ctypes
import os

print("started", flush=True)
libc = ctypes.CDLL(None, use_errno=True)
for flags in (0, 0x200):  # 0x200: FAN_REPORT_FID, for which no right is needed
    fd = libc.fanotify_init(flags, 0)
    if fd < 0:
        print("fanotify_init", os.strerror(ctypes.get_errno()))
    else:
        print("reached fanotify", flags)
