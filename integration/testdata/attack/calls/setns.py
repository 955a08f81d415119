"""Enters the namespaces of a child that left its own, by their names in /proc."""
import ctypes
import os
import signal

print("started", flush=True)
libc = ctypes.CDLL(None, use_errno=True)
r, w = os.pipe()
pid = os.fork()
if pid == 0:
    signal.alarm(20)
    print("unshare", libc.unshare(0x50000000), flush=True)  # user and net
    os.write(w, b"x")
    signal.pause()
os.read(r, 1)
before = os.readlink("/proc/self/ns/net")
for kind, flag in (("user", 0x10000000), ("net", 0x40000000)):
    if libc.setns(os.open(f"/proc/{pid}/ns/{kind}", os.O_RDONLY), flag) < 0:
        print(kind, os.strerror(ctypes.get_errno()))
if os.readlink("/proc/self/ns/net") != before:
    print("reached the network namespace of another process")
os.kill(pid, signal.SIGKILL)
