"""Empties a file without opening it. argv: the file."""
import ctypes
import sys

print("started", flush=True)
libc = ctypes.CDLL(None, use_errno=True)
path = sys.argv[1].encode()
print(libc.truncate(path, ctypes.c_long(0)), ctypes.get_errno())
print(libc.syscall(76, path, ctypes.c_long(0)), ctypes.get_errno())
print(libc.creat(path, 0o600), ctypes.get_errno())
