"""Weakens what protects memory for itself and all it starts."""
import ctypes
import os

print("started", flush=True)
libc = ctypes.CDLL(None, use_errno=True)
for name, value in (("READ_IMPLIES_EXEC", 0x0400000), ("ADDR_COMPAT_LAYOUT", 0x0200000), ("MMAP_PAGE_ZERO", 0x0100000), ("PER_LINUX32", 8),
                    ("high bits", 1 << 32 | 0x0440000)):
    if libc.syscall(135, ctypes.c_long(value)) < 0:
        print(name, os.strerror(ctypes.get_errno()))
    now = libc.syscall(135, ctypes.c_long(0xFFFFFFFF))
    if now == value & 0xFFFFFFFF:
        print("reached the personality", name)
