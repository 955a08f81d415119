"""Takes files for swap and sets quotas, as far as arguments that are wrong can."""
import ctypes

print("started", flush=True)
libc = ctypes.CDLL(None, use_errno=True)
for name, number, args in (
    ("swapon", 167, (1, 0)),
    ("swapoff", 168, (1,)),
    ("quotactl", 179, (0x80000700, b"/dev/none", 0, 0)),
    ("quotactl_fd", 443, (-1, 0, 0, 0)),
    ("acct", 163, (1,)),
):
    ctypes.set_errno(0)
    libc.syscall(number, *(ctypes.c_long(a) if isinstance(a, int) else a for a in args))
    print("asked", name, ctypes.get_errno())
