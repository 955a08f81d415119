"""Makes the node of the disk its folder lies on, by three calls. argv: the node."""
import ctypes
import os
import stat
import sys

print("started", flush=True)
libc = ctypes.CDLL(None, use_errno=True)
disk, path = os.stat(".").st_dev, sys.argv[1]
for act in (lambda: os.mknod(path, stat.S_IFBLK | 0o666, disk),
            lambda: os.mknod(os.path.basename(path) + ".2", stat.S_IFBLK | 0o666, disk, dir_fd=os.open(os.path.dirname(path), os.O_RDONLY)),
            lambda: print(libc.syscall(133, path.encode() + b".3", stat.S_IFBLK | 0o666, disk), ctypes.get_errno())):
    try:
        act()
    except OSError as e:
        print(e)
