"""Asks the C library, and walks its list of variables. argv: the name."""
import ctypes
import sys

print("started", flush=True)
libc = ctypes.CDLL(None)
libc.getenv.restype = libc.secure_getenv.restype = ctypes.c_char_p
print(libc.getenv(sys.argv[1].encode()), libc.secure_getenv(sys.argv[1].encode()))
environ = ctypes.POINTER(ctypes.c_char_p).in_dll(libc, "environ")
n = 0
while environ[n]:
    print(environ[n])
    n += 1
