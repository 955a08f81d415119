"""Exchanges the policy with a file of its own, by the call that swaps two names. argv: the policy file."""
import ctypes
import sys

print("started", flush=True)
libc = ctypes.CDLL(None, use_errno=True)
path = sys.argv[1].encode()
with open(path + b".own", "wb") as f:
    f.write(b"version = 1\n")
for flags in (2, 0):
    print(libc.renameat2(-100, path + b".own", -100, path, flags), ctypes.get_errno())
