"""Becomes root: in a user namespace of its own, by capabilities, and by being nobody else already."""
import ctypes
import os

print("started", flush=True)
libc = ctypes.CDLL(None, use_errno=True)
uid, gid = os.getuid(), os.getgid()
libc.unshare(0x10000000)
for file, text in (("setgroups", "deny"), ("uid_map", f"0 {uid} 1"), ("gid_map", f"0 {gid} 1")):
    try:
        open("/proc/self/" + file, "w").write(text)
    except OSError as e:
        print(file, e.strerror)
for act in (lambda: os.setresgid(0, 0, 0), lambda: os.setresuid(0, 0, 0), lambda: os.setuid(0), lambda: os.seteuid(0), lambda: os.setgroups([0])):
    try:
        act()
    except OSError as e:
        print(e.strerror)
if 0 in os.getresuid() + os.getresgid():
    print("reached root:", os.getresuid(), os.getresgid())
