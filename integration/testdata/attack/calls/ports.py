"""Takes hardware ports and descriptor tables, and reads and changes the kernel's log."""
import ctypes

print("started", flush=True)
libc = ctypes.CDLL(None, use_errno=True)
for name, number, args in (
    ("iopl", 172, (9,)),
    ("ioperm", 173, (70000, 1, 1)),
    ("modify_ldt", 154, (0xFF, 0, 0)),
    ("syslog", 103, (99, 0, 0)),
):
    ctypes.set_errno(0)
    libc.syscall(number, *(ctypes.c_long(a) if isinstance(a, int) else a for a in args))
    print("asked", name, ctypes.get_errno())
