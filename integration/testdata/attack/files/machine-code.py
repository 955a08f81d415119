"""Opens with functions and bare call numbers of the C library, behind Python. argv: the file."""
import ctypes
import sys

print("started", flush=True)
libc = ctypes.CDLL(None, use_errno=True)
libc.fopen.restype, libc.fgets.restype, libc.fgets.argtypes = ctypes.c_void_p, ctypes.c_char_p, (ctypes.c_char_p, ctypes.c_int, ctypes.c_void_p)
path, text = sys.argv[1].encode(), ctypes.create_string_buffer(4096)
for fd in (libc.open(path, 0), libc.open64(path, 0), libc.openat(-100, path, 0), libc.syscall(257, -100, path, 0, 0)):
    if fd >= 0:
        print(text.raw[:libc.read(fd, text, 4096)])
f = libc.fopen(path, b"r")
if f:
    print(libc.fgets(text, 4096, f))
