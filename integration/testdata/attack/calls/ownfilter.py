"""Lays filters of its own over those it wears: one that allows all, and one with a listener, at which it answers "go on" itself."""
import ctypes
import os
import struct

print("started", flush=True)
libc = ctypes.CDLL(None, use_errno=True)


def install(action, flags):
    code = ctypes.create_string_buffer(struct.pack("=HBBI", 6, 0, 0, action))
    program = struct.pack("=HxxxxxxQ", 1, ctypes.addressof(code))
    r = libc.syscall(317, 1, flags, program)  # SECCOMP_SET_MODE_FILTER
    if r < 0:
        print("seccomp", flags, os.strerror(ctypes.get_errno()), flush=True)
    return r


libc.prctl(38, 1, 0, 0, 0)
for flags in (0, 1, 4):  # plain, TSYNC, SPEC_ALLOW
    install(0x7FFF0000, flags)
    if libc.unshare(0x10000000) == 0 and flags == 0:
        print("reached a namespace behind a filter of its own", flush=True)
if install(0x7FFF0000, 8) >= 0:  # NEW_LISTENER
    print("reached a listener of its own", flush=True)
