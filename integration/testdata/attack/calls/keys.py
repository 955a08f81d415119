"""Reads a secret out of the user's keyring. argv: the key's name, and the secret to put there first, when it is to be put."""
import ctypes
import os
import sys

print("started", flush=True)
libc = ctypes.CDLL(None, use_errno=True)
name, text = sys.argv[1].encode(), ctypes.create_string_buffer(256)
if len(sys.argv) > 2:
    key = libc.syscall(248, b"user", name, sys.argv[2].encode(), ctypes.c_long(len(sys.argv[2])), -4)  # add_key
    libc.syscall(250, 15, key, 60)  # keyctl SET_TIMEOUT: it goes by itself
    sys.exit()
for call, key in (("keyctl", libc.syscall(250, 10, -4, b"user", name, 0)), ("request_key", libc.syscall(249, b"user", name, None, 0))):
    if key < 0:
        print(call, os.strerror(ctypes.get_errno()))
    elif libc.syscall(250, 11, key, text, ctypes.c_long(255), 0) >= 0:
        print(call, text.value.decode())
