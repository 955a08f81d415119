"""Takes mounts away that cover something: a mount of its own first, which without psb it can make."""
import ctypes
import os

print("started", flush=True)
libc = ctypes.CDLL(None, use_errno=True)
os.mkdir("/tmp/psb-attack-%d" % os.getpid())
place = b"/tmp/psb-attack-%d" % os.getpid()
libc.unshare(0x10020000)  # user, mount
libc.mount(b"covered", place, b"tmpfs", 0, None)
for target in (place, b"/proc", b"/tmp", b"/dev/shm"):
    if libc.umount2(target, 2) == 0:  # MNT_DETACH
        print("reached what a mount covers:", target)
    else:
        print(target, os.strerror(ctypes.get_errno()))
os.rmdir(place)
