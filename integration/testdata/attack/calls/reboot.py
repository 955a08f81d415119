"""Stops or restarts the machine, with numbers that no kernel takes for an order."""
import ctypes

print("started", flush=True)
libc = ctypes.CDLL(None, use_errno=True)
for name, number, args in (
    ("reboot", 169, (0, 0, 0, 0)),
    ("reboot", 169, (0xFEE1DEAD, 0, 0x01234567, 0)),
):
    ctypes.set_errno(0)
    libc.syscall(number, *(ctypes.c_long(a) if isinstance(a, int) else a for a in args))
    print("asked", name, ctypes.get_errno())
