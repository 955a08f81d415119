"""Compares kernel objects of itself and of its child, which tells their order in the kernel's memory."""
import ctypes
import os
import signal

print("started", flush=True)
libc = ctypes.CDLL(None, use_errno=True)
pid = os.fork()
if pid == 0:
    signal.alarm(20)
    signal.pause()
for kind in range(7):
    r = libc.syscall(312, os.getpid(), pid, kind, 0, 0)
    print("kcmp", os.strerror(ctypes.get_errno())) if r < 0 else print("reached the order of kernel objects:", kind, r)
os.kill(pid, signal.SIGKILL)
