"""Sets the machine's clock, from memory that is not there."""
import ctypes

print("started", flush=True)
libc = ctypes.CDLL(None, use_errno=True)
for name, number, args in (
    ("settimeofday", 164, (1, 0)),
    ("clock_settime", 227, (0, 1)),
    ("adjtimex", 159, (1,)),
    ("clock_adjtime", 305, (0, 1)),
):
    ctypes.set_errno(0)
    libc.syscall(number, *(ctypes.c_long(a) if isinstance(a, int) else a for a in args))
    print("asked", name, ctypes.get_errno())
