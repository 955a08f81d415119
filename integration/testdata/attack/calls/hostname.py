"""Renames the machine, with lengths that cannot be."""
import ctypes

print("started", flush=True)
libc = ctypes.CDLL(None, use_errno=True)
for name, number, args in (
    ("sethostname", 170, (0, -1)),
    ("setdomainname", 171, (0, -1)),
):
    ctypes.set_errno(0)
    libc.syscall(number, *(ctypes.c_long(a) if isinstance(a, int) else a for a in args))
    print("asked", name, ctypes.get_errno())
