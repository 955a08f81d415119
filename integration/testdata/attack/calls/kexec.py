"""Puts another kernel in the place of the running one, as far as arguments that are wrong can."""
import ctypes

print("started", flush=True)
libc = ctypes.CDLL(None, use_errno=True)
for name, number, args in (
    ("kexec_load", 246, (0, 17, 0, 0xFF000000)),
    ("kexec_file_load", 320, (-1, -1, 0, None, 0xFF00)),
):
    ctypes.set_errno(0)
    libc.syscall(number, *(ctypes.c_long(a) if isinstance(a, int) else a for a in args))
    print("asked", name, ctypes.get_errno())
