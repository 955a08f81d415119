"""Reaches for what is hidden through descriptors of the folders around it. argv: the file."""
import ctypes
import os
import sys

print("started", flush=True)
folder, name = os.path.split(sys.argv[1])
libc = ctypes.CDLL(None, use_errno=True)
at = os.open(".", os.O_PATH)
how = (ctypes.c_uint64 * 3)(os.O_RDONLY, 0, 0x08)  # beneath
for act in (lambda: print(os.read(os.open(sys.argv[1], os.O_RDONLY, dir_fd=at), 4096)),
            lambda: print(os.read(os.open(name, os.O_RDONLY, dir_fd=os.open(folder, os.O_PATH, dir_fd=at)), 4096)),
            lambda: print(open("/proc/self/cwd/" + sys.argv[1]).read()),
            lambda: print(open("/proc/self/fd/%d/%s" % (at, sys.argv[1])).read()),
            lambda: print(os.read(libc.syscall(437, at, sys.argv[1].encode(), how, 24), 4096))):
    try:
        act()
    except OSError as e:
        print(e)
