"""Binds the folder that is hidden to another place, in namespaces of its own and directly. argv: the folder, the file, the place, "apart" (only in namespaces of its own) or "all"."""
import ctypes
import os
import sys

print("started", flush=True)
folder, name, place, how = sys.argv[1:]
libc = ctypes.CDLL(None, use_errno=True)
apart = libc.unshare(0x10000000 | 0x20000) == 0 or libc.unshare(0x20000) == 0
if apart:
    libc.mount(b"none", b"/", None, 0x44000, None)  # nothing of this reaches the host
if apart or how == "all":
    print("mount", libc.mount(folder.encode(), place.encode(), None, 0x5000, None), ctypes.get_errno())
    tree = libc.syscall(428, -100, folder.encode(), 1)  # open_tree
    print("open_tree", tree, ctypes.get_errno())
try:
    print(open(os.path.join(place, name)).read())
except OSError as e:
    print(e)
